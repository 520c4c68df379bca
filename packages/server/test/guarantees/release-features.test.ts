import { type AgentDefinitionPatch, agentDefaults } from "@perch/contract";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAsOwner } from "../../src/db/open-as-owner.ts";
import { activateRelease, findActiveTurn, findUnderstoodFeatures } from "../../src/db/releases.ts";
import { createEngine } from "../../src/engine/engine.ts";
import { createCallAdmin, createEngineAdmin } from "../../src/engine/engine-admin.ts";
import type { RunInput } from "../../src/engine/messages.ts";
import { activateThisRelease } from "../../src/operator/commands/run-activate-release.ts";
import { newUuid, parsePublicId } from "../../src/platform/ids.ts";
import { releaseFeatures } from "../../src/platform/release-features.ts";
import { ok } from "../support/contract-client.ts";
import { decide, waitForApprovals } from "../support/decisions.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { createSecret } from "../support/secret-calls.ts";

const tool = await startToolServer(() => ({ body: { paid: true } }));
afterAll(() => tool.close());

const perch = usePerch(
  { outboundAllowedPrivateRanges: ["127.0.0.0/8"], valkeyUrl: serviceUrl("PERCH_VALKEY_URL") },
  { withWorker: true },
);

const refund: NonNullable<AgentDefinitionPatch["tools"]>[number] = {
  ...{ type: "http", name: "refund", description: "Pays money back.", method: "POST", url: tool.url },
  parameters: { type: "object" },
  approval: "always",
};
const instructions = JSON.stringify({
  steps: [{ tool_calls: [{ name: "refund", arguments: {} }] }, { reply: "paid" }],
});

let organisation: Organisation;
beforeAll(async () => {
  organisation = await perch().createOrganisation();
  const model = "perch/script";
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model, instructions, tools: [refund] } }));
  ok(await organisation.call("POST /v1/agents", { body: { name: "plain", model: "perch/echo" } }));
});

const asOwner = async <T>(work: (db: ReturnType<typeof openAsOwner>) => Promise<T>): Promise<T> => {
  const db = openAsOwner(perch().database.ownerUrl);
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
};

/** As a release activates itself that knows nothing of features, or of others than this one. */
const activateAnother = (release: string, features?: readonly string[]) =>
  asOwner(async (db) => {
    const turn = ((await findActiveTurn(db))?.turn ?? 0) + 1;
    const values = { turn, release, ...(features && { features: [...features] }) };
    await db.insertInto("releases").values(values).execute();
  });

/** Resolves when the worker has registered and new runs come to it. */
async function activateOwn(): Promise<void> {
  const { release } = perch().server.core.config;
  await asOwner((db) => db.transaction().execute((trx) => activateRelease(trx, release)));
  const { unscoped } = perch().server.core.db;
  await expect.poll(() => findUnderstoodFeatures(unscoped), { timeout: 15_000 }).toEqual([...releaseFeatures]);
}

const waitingRuns = (where: string) =>
  asOwner(async (db) => {
    const { rows } = await sql<{ status: string }>`select status from waiting_runs where ${sql.raw(where)}`.execute(db);
    return rows.map(({ status }) => status);
  });

const invoke = (agent: string) =>
  organisation.call("POST /v1/agents/{agent_id}/invoke", { params: { agent_id: agent }, body: { message: "go" } });

describe("while a release is active that lists no features", () => {
  test("runs and deployments of an agent with approvals get 503, and others are served", async () => {
    await activateAnother("without-a-list");
    const refused = await invoke("bot");
    expect(refused).toMatchObject({ status: 503, body: { error: { code: "unavailable" } } });
    expect(JSON.stringify(refused.body)).toContain("This agent uses approvals, and the release");
    const deployment = { environment: "production", version: "v1" };
    const deploy = (agent_id: string) =>
      organisation.call("POST /v1/agents/{agent_id}/deployments", { params: { agent_id }, body: deployment });
    expect((await deploy("bot")).status).toBe(503);
    expect((await invoke("plain")).status).toBe(200);
    expect((await deploy("plain")).status).toBe(201);
    expect(tool.calls).toEqual([]);
    await activateOwn();
  }, 30_000);

  test("an agent whose settings or secrets alone ask for approval needs a release that understands those", async () => {
    const { approval: _, ...unasked } = refund as Extract<typeof refund, { type: "http" }>;
    const headers = { Authorization: "Bearer {{secret.github_token}}" };
    const body = { model: "perch/script", instructions };
    const security = { approvals: { tools: ["refund"] } };
    ok(await organisation.call("POST /v1/agents", { body: { name: "named", ...body, tools: [unasked], security } }));
    ok(
      await organisation.call("POST /v1/agents", {
        body: { name: "secret", ...body, tools: [{ ...unasked, headers }] },
      }),
    );
    await createSecret(organisation);
    await activateAnother("without-floors", ["approvals", "connections", "secrets"]);
    const named = await invoke("named");
    expect(named).toMatchObject({ status: 503, body: { error: { code: "unavailable" } } });
    expect(JSON.stringify(named.body)).toContain("This agent uses approval_floor, and the release");
    expect((await invoke("secret")).status).not.toBe(503);
    const params = { secret_name: "github_token" };
    ok(await organisation.call("PATCH /v1/secrets/{secret_name}", { params, body: { approval: "required" } }));
    expect((await invoke("secret")).status).toBe(503);
    const deployment = { environment: "production", version: "v1" };
    for (const agent_id of ["named", "secret"]) {
      const request = { params: { agent_id }, body: deployment };
      expect((await organisation.call("POST /v1/agents/{agent_id}/deployments", request)).status).toBe(503);
    }
    expect(tool.calls).toEqual([]);
    await activateOwn();
  }, 30_000);

  test("a run that waited goes on when a release that understands it is active again", async () => {
    const id = await invokeInBackground(perch(), organisation.adminKey, { message: "go" });
    const [approval] = await waitForApprovals(perch(), organisation, id);
    await activateAnother("without-a-list");
    await decide(perch(), organisation, approval?.id ?? "", { verdict: "approve" });
    // A sweep has claimed it, and left it ready.
    await expect.poll(() => waitingRuns("send_after > now()"), { timeout: 10_000 }).toEqual(["ready"]);
    expect(tool.calls).toEqual([]);
    await activateOwn();
    await asOwner((db) => sql`update waiting_runs set send_after = now()`.execute(db));
    expect(await waitForRunRecord(organisation, id, (status) => status === "completed")).toMatchObject({
      status: "completed",
      response: "paid",
    });
    expect(tool.calls).toHaveLength(1);
  }, 60_000);
});

test("a worker leaves a run in the engine that needs what its release does not understand", async () => {
  const { config, logger } = perch().server.core;
  const engine = createEngine({ ingressUrls: config.ingressUrls, logger, onFailure: () => undefined });
  const run: RunInput = {
    ...{ id: newUuid(), acceptedAtMs: Date.now(), agentId: newUuid(), environment: "production", message: "go" },
    organisationId: parsePublicId("organisation", organisation.id) ?? "",
    ...{ version: null, deploymentId: null, trial: null, userId: null, sessionId: null, streamed: false, trace: null },
    definition: { ...agentDefaults, model: "perch/echo" },
    needs: ["time_travel"],
  };
  await engine.start(run);
  const text = `select id, last_failure from sys_invocation where idempotency_key = '${run.id}'`;
  const find = async () => {
    const answer = await createCallAdmin(config.adminUrls, 5000)("POST", "/query", { query: text });
    return (answer as { rows: readonly { id: string; last_failure?: string }[] }).rows[0];
  };
  const failure = expect.stringContaining("does not understand time_travel");
  await expect.poll(find, { timeout: 10_000 }).toMatchObject({ last_failure: failure });
  await createEngineAdmin(config.adminUrls).kill((await find())?.id ?? "");
  await engine.close();
});

test("activate-release refuses a release that understands less than the active one, unless forced", async () => {
  const { core } = perch().server;
  const config = { ...core.config, release: "older", migrationDatabaseUrl: perch().database.ownerUrl };
  await activateAnother("newer", [...releaseFeatures, "time_travel"]);
  await expect(activateThisRelease(config, false)).rejects.toThrow(
    "Release older does not understand time_travel, which release newer does",
  );
  expect(await asOwner(findActiveTurn)).toMatchObject({ release: "newer" });
  await activateThisRelease(config, true);
  expect(await asOwner(findActiveTurn)).toMatchObject({ release: "older", features: [...releaseFeatures] });
});
