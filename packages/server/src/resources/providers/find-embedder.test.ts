import { type ModelServer, modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testConfig } from "../../../test/support/harness.ts";
import { expectFailure } from "../../../test/support/model-requests.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { type Core, closeCore, composeCore } from "../../compose/core.ts";
import type { Share } from "../../fairness/shares.ts";
import { PermanentModelError } from "../../outbound/models/model.ts";
import { newUuid } from "../../platform/ids.ts";
import { createLogger } from "../../platform/logger.ts";
import { insertOrganisation } from "../organisations/organisation-queries.ts";
import { createFindEmbedder } from "./find-embedder.ts";
import { sealApiKey } from "./provider-keys.ts";
import { insertProvider } from "./provider-queries.ts";

let database: TestDatabase;
let core: Core;
let server: ModelServer;

beforeAll(async () => {
  database = await createTestDatabase();
  core = composeCore(testConfig(database), createLogger("silent"));
  await core.dataKeys.load();
  server = await startOpenAiServer(() => ({}));
});
afterAll(async () => {
  await server.close();
  await closeCore(core);
  await database.drop();
});

const asked: unknown[] = [];
const local = {
  dimensions: 384,
  embedFor: async (use: unknown) => {
    asked.push(use);
    return [];
  },
};
const signal = () => AbortSignal.timeout(10_000);

interface Own {
  readonly guarded?: typeof fetch;
  readonly trusted?: typeof fetch;
  readonly embeddings?: Pick<Share, "hold">;
}

function createFinder(own: Own = {}) {
  const refuse = async () => expect.fail("this way is not for that provider");
  return createFindEmbedder({
    db: core.db,
    installation: [
      { name: "house", type: "openai-compatible", baseUrl: server.url, apiKey: modelServerKey, models: ["small"] },
    ],
    providerKeys: core.keys.providerKeys,
    resolveCall: core.outbound.resolveCall,
    guardedFetch: own.guarded ?? refuse,
    trustedFetch: own.trusted ?? refuse,
    local,
    embeddings: own.embeddings ?? core.shares.of.embeddings,
    idleTimeoutMs: 1000,
  });
}

/** Creates an organisation, with a provider of its own if a name is given. */
async function createOrganisationWithProvider(name?: string, models: string[] = []): Promise<string> {
  const organisationId = newUuid();
  await core.db.inOrganisation(organisationId, async (trx) => {
    await insertOrganisation(trx, { id: organisationId, name: "Acme", tier: "free" });
    if (!name) return;
    const baseUrl = server.url;
    const sealedApiKey = sealApiKey(core.keys.providerKeys, modelServerKey, { organisationId, name, baseUrl });
    await insertProvider(trx, { organisationId }, { name, type: "openai", baseUrl, models, sealedApiKey });
  });
  return organisationId;
}

describe("findEmbedder", () => {
  test("perch/minilm is available to every organisation, with its own number of dimensions only", async () => {
    const organisation = await createOrganisationWithProvider();
    const { dimensions, embed } = await createFinder()(organisation, { model: "perch/minilm", dimensions: 384 });
    expect([dimensions, await embed(["x"], signal())]).toEqual([384, []]);
    expect(asked.at(-1)).toEqual({ organisationId: organisation, isBackground: false });
    const failure = await expectFailure(createFinder()(organisation, { model: "perch/minilm", dimensions: 768 }));
    expect(failure).toEqual(new PermanentModelError("perch/minilm makes vectors of 384 dimensions, not of 768."));
  });

  test("perch/minilm learns whether a request waits, and only texts of requests take a share", async () => {
    const organisation = await createOrganisationWithProvider();
    const ref = { model: "perch/minilm", dimensions: 384 };
    const held: string[] = [];
    const embeddings = {
      hold: <T>(owner: string, work: () => Promise<T>) => {
        held.push(owner);
        return work();
      },
    };
    const findEmbedder = createFinder({ embeddings });
    await (await findEmbedder(organisation, ref, "background")).embed(["x"], signal());
    expect([held, asked.at(-1)]).toEqual([[], { organisationId: organisation, isBackground: true }]);
    await (await findEmbedder(organisation, ref, "request")).embed(["x"], signal());
    expect([held, asked.at(-1)]).toEqual([[organisation], { organisationId: organisation, isBackground: false }]);
  });

  test("an organisation's own provider is called through the guarded client, with its key", async () => {
    const organisation = await createOrganisationWithProvider("acme");
    const found = await createFinder({ guarded: fetch })(organisation, { model: "acme/any", dimensions: 768 });
    const [vector] = await found.embed(["hello"], signal());
    expect(vector).toHaveLength(768);
    expect(server.calls.at(-1)).toMatchObject({ path: "/v1/embeddings", body: { model: "any", dimensions: 768 } });
  });

  test("the operator's provider is called through the trusted client, unless the organisation has one of the same name", async () => {
    const ref = { model: "house/small", dimensions: 384 };
    const operators = await createFinder({ trusted: fetch })(await createOrganisationWithProvider(), ref);
    expect(await operators.embed(["hello"], signal())).toHaveLength(1);
    const own = await createFinder({ guarded: fetch })(await createOrganisationWithProvider("house"), ref);
    expect(await own.embed(["hello"], signal())).toHaveLength(1);
  });

  test.each([
    ["a provider of another organisation", "acme/any"],
    ["an unknown provider", "nobody/any"],
    ["a model that the provider does not offer", "house/large"],
    ["a built-in model that is not an embedder", "perch/echo"],
  ])("%s is not found, and the message gives advice", async (_, model) => {
    await createOrganisationWithProvider("acme");
    const failure = await expectFailure(
      createFinder()(await createOrganisationWithProvider(), { model, dimensions: 384 }),
    );
    expect(failure).toEqual(
      new PermanentModelError(
        `There is no embedder ${model} here. Use perch/minilm, or add its provider: POST /v1/providers.`,
      ),
    );
  });
});
