import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test, vi } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createSecret, secretValue } from "../../../test/support/secret-calls.ts";
import type { Database } from "../../db/database.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { createLogger } from "../../platform/logger.ts";
import { createFindSecrets } from "./find-stored-secrets.ts";

const perch = usePerch();
const logger = createLogger("silent");
const logged = vi.spyOn(logger, "error");
afterAll(() => logged.mockRestore());
let nowMs = Date.parse("2026-06-01T12:00:00Z");

/** Counts the finder's statements that look for secrets, and its transactions that record a use. */
function createFinder() {
  const { core } = perch().server;
  const inOrganisation = vi.fn(core.db.inOrganisation) as unknown as Database["inOrganisation"] & { mock: object };
  const onBehalfOf = vi.fn(core.db.onBehalfOf) as unknown as Database["onBehalfOf"] & { mock: object };
  const find = createFindSecrets({
    db: { inOrganisation, onBehalfOf },
    sealer: core.keys.secrets,
    logger,
    now: () => nowMs,
  });
  return { find, statements: vi.mocked(onBehalfOf), uses: vi.mocked(inOrganisation) };
}

async function createOrganisationWithAgents() {
  const organisation = await perch().createOrganisation();
  const createAgent = async (name: string) =>
    parsePublicId(
      "agent",
      ok(await organisation.call("POST /v1/agents", { body: { name, model: "perch/echo" } })).data.id,
    ) ?? "";
  const organisationId = parsePublicId("organisation", organisation.id) ?? "";
  return { ...organisation, organisationId, bot: await createAgent("bot"), other: await createAgent("other") };
}

const readUse = async ({ call }: Organisation): Promise<string | null> =>
  ok(await call("GET /v1/secrets/{secret_name}", { params: { secret_name: "github_token" } })).data.last_used_at;

const update = (statement: string, values: readonly unknown[]) =>
  withClient(perch().database.adminUrl, (client) => client.query(statement, [...values]));

describe("findSecrets", () => {
  test("finds what is named and exists, with the origins of its hosts, in one statement", async () => {
    verifies("secrets.hosts");
    const organisation = await createOrganisationWithAgents();
    const { organisationId, bot } = organisation;
    await createSecret(organisation, { hosts: ["api.github.com", "tools.example:8443", "http://127.0.0.1:3000"] });
    await createSecret(organisation, { name: "unasked" });
    const { find, statements } = createFinder();
    const found = await find({ organisationId, agentId: bot }, ["github_token", "absent"]);
    expect([...found]).toEqual([
      [
        "github_token",
        {
          value: secretValue,
          origins: ["https://api.github.com", "https://tools.example:8443", "http://127.0.0.1:3000"],
        },
      ],
    ]);
    expect(statements).toHaveBeenCalledTimes(1);
    const none = createFinder();
    expect((await none.find({ organisationId, agentId: bot }, [])).size).toBe(0);
    expect(none.statements).not.toHaveBeenCalled();
  });

  test("an agent's own secret takes precedence, and no other agent or organisation sees it", async () => {
    verifies("secrets.of-agents");
    const organisation = await createOrganisationWithAgents();
    const { organisationId, bot, other } = organisation;
    await createSecret(organisation, { value: "of the organisation" });
    await createSecret(organisation, { value: "of the agent bot", agent: "bot" });
    await createSecret(organisation, { name: "own", value: "of bot alone", agent: "bot" });
    const { find } = createFinder();
    const valuesFor = async (owner: { organisationId: string; agentId: string | null }) =>
      Object.fromEntries([...(await find(owner, ["github_token", "own"]))].map(([name, { value }]) => [name, value]));
    expect(await valuesFor({ organisationId, agentId: bot })).toEqual({
      github_token: "of the agent bot",
      own: "of bot alone",
    });
    const shared = { github_token: "of the organisation" };
    expect(await valuesFor({ organisationId, agentId: other })).toEqual(shared);
    expect(await valuesFor({ organisationId, agentId: null })).toEqual(shared);
    const theirs = await createOrganisationWithAgents();
    expect(await valuesFor({ organisationId: theirs.organisationId, agentId: bot })).toEqual({});
  });

  test("a change and a deletion count from the next call", async () => {
    verifies("secrets.rotation");
    const organisation = await createOrganisationWithAgents();
    const owner = { organisationId: organisation.organisationId, agentId: null };
    await createSecret(organisation);
    const { find } = createFinder();
    const params = { secret_name: "github_token" };
    expect((await find(owner, ["github_token"])).get("github_token")?.value).toBe(secretValue);
    const body = { value: "the next value" };
    ok(await organisation.call("PATCH /v1/secrets/{secret_name}", { params, body }));
    expect((await find(owner, ["github_token"])).get("github_token")?.value).toBe("the next value");
    ok(await organisation.call("DELETE /v1/secrets/{secret_name}", { params }));
    expect((await find(owner, ["github_token"])).size).toBe(0);
  });

  test.each([
    ["with a host more", "hosts = '{api.github.com, evil.example}'"],
    ["with other hosts", "hosts = '{evil.example}'"],
    ["under another name", "name = 'renamed'"],
    ["as an agent's", "agent_id = (select id from agents where organisation_id = $1 and name = 'bot')"],
    [
      "in another organisation",
      "organisation_id = (select id from organisations where id <> $1 order by created_at desc limit 1)",
    ],
  ])("a row that was changed in the database, %s, does not open", async (_, change) => {
    verifies("secrets.sealed");
    const organisation = await createOrganisationWithAgents();
    const { organisationId, bot } = organisation;
    const theirs = await createOrganisationWithAgents();
    await createSecret(organisation);
    await update(`update secrets set ${change} where organisation_id = $1`, [organisationId]);
    const { find } = createFinder();
    logged.mockClear();
    const names = ["github_token", "renamed"];
    for (const owner of [
      { organisationId, agentId: bot },
      { organisationId: theirs.organisationId, agentId: null },
    ])
      expect((await find(owner, names)).size).toBe(0);
    expect(logged).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(logged.mock.calls)).not.toContain(secretValue);
  });

  test("the last use is written at most once a minute, and only of what was found", async () => {
    verifies("secrets.last-used");
    const organisation = await createOrganisationWithAgents();
    const owner = { organisationId: organisation.organisationId, agentId: organisation.bot };
    await createSecret(organisation);
    const { find, uses } = createFinder();
    const first = new Date(nowMs).toISOString();
    await find(owner, ["absent"]);
    expect(uses).not.toHaveBeenCalled();
    await find(owner, ["github_token"]);
    await vi.waitFor(async () => expect(await readUse(organisation)).toBe(first));
    uses.mockClear();
    nowMs += 59_000;
    for (let i = 0; i < 3; i += 1) await find(owner, ["github_token"]);
    expect(uses).not.toHaveBeenCalled();
    expect(await readUse(organisation)).toBe(first);
    nowMs += 2_000;
    await find(owner, ["github_token"]);
    await vi.waitFor(async () => expect(await readUse(organisation)).toBe(new Date(nowMs).toISOString()));
  });

  test("a call does not wait for the last use to be written, nor fail with it", async () => {
    verifies("secrets.last-used");
    const organisation = await createOrganisationWithAgents();
    const owner = { organisationId: organisation.organisationId, agentId: null };
    await createSecret(organisation);
    await withClient(perch().database.adminUrl, async (client) => {
      await client.query("begin");
      await client.query("select from secrets where organisation_id = $1 for update", [owner.organisationId]);
      const { find, uses } = createFinder();
      expect((await find(owner, ["github_token"])).size).toBe(1);
      // It skips the locked row, and so ends while the lock is held.
      await vi.waitFor(() => expect(uses.mock.settledResults).toHaveLength(1));
      await expect(uses.mock.results[0]?.value).resolves.toBeUndefined();
      await client.query("rollback");
    });
    expect(await readUse(organisation)).toBeNull();
    const { core } = perch().server;
    let calls = 0;
    const inOrganisation: Database["inOrganisation"] = () => {
      calls++;
      return Promise.reject(new Error("no connection"));
    };
    const failing = createFindSecrets({
      db: { ...core.db, inOrganisation },
      sealer: core.keys.secrets,
      logger,
      now: () => nowMs,
    });
    expect((await failing(owner, ["github_token"])).size).toBe(1);
    expect(calls).toBe(1);
  });
});
