import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { Redis } from "iovalkey";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, startApi, usePerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";

const script = await startScriptServer((call) => ({
  reply: "done",
  delay_ms: lastUserMessage(call) === "hold" ? 5000 : 0,
}));
const valkeyUrl = serviceUrl("PERCH_VALKEY_URL");
const perch = usePerch({ scriptModelUrl: script.url, valkeyUrl }, { withWorker: true });
const valkey = new Redis(valkeyUrl);
afterAll(async () => {
  valkey.disconnect();
  await script.close();
});

async function createOrganisationWithAgent(limits: Parameters<typeof createScriptedAgent>[2]): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, [], limits);
  return organisation;
}

describe("a turn that waits for its session", () => {
  test("occupies its slot for as long as the turns before it may take, and then for its own time", async () => {
    const organisation = await createOrganisationWithAgent({ timeout_seconds: 10 });
    const body = { message: "hold", context: { session_id: "one" } };
    const ids: string[] = [];
    for (let turn = 0; turn < 3; turn++) ids.push(await invokeInBackground(perch(), organisation.adminKey, body));
    const slots = `perch:runs:${parsePublicId("organisation", organisation.id)}`;
    const [seconds = 0] = await valkey.time();
    const leases = await Promise.all(
      ids.map(async (id) => Number(await valkey.zscore(slots, parsePublicId("request", id) ?? "")) - Number(seconds)),
    );
    const [first = 0, second = 0, third = 0] = leases;
    // A run of this agent takes at most 10 seconds, and its record a minute more.
    const lease = 10 + 60;
    for (const [i, measured] of [first, second, third].entries()) {
      expect(measured).toBeLessThanOrEqual((i + 1) * lease);
      expect(measured).toBeGreaterThan((i + 1) * lease - 10);
    }
  });
});

describe("a run that the engine did not get from the request that claimed it", () => {
  let cutOffUrl: string;
  let stop: () => Promise<unknown>;
  beforeAll(async () => {
    const logger = createLogger("silent");
    const { config } = perch().server.core;
    const server = await startApi({ ...config, ingressUrls: ["http://127.0.0.1:1"] }, logger);
    cutOffUrl = await server.app.listen({ host: "127.0.0.1", port: 0 });
    stop = () => shutDown(server.shutdownSteps, logger);
  });
  afterAll(() => stop());

  const claim = async ({ adminKey }: Organisation) => {
    const headers = { "idempotency-key": "once" };
    const { status } = await invokeAgent({ url: cutOffUrl }, adminKey, { message: "hello" }, { headers });
    expect(status).toBe(503);
    return () => invokeAgent(perch(), adminKey, { message: "hello" }, { headers });
  };

  test("starts with a retry, which needs a slot like any run", async () => {
    const organisation = await createOrganisationWithAgent({ max_concurrent_runs: 1 });
    const retry = await claim(organisation);
    const held = await invokeInBackground(perch(), organisation.adminKey, { message: "hold" });
    const refused = await retry();
    expect(refused).toMatchObject({ status: 429, error: { code: "rate_limited" } });
    expect(refused.headers.get("idempotent-replayed")).toBeNull();
    await waitForRunRecord(organisation, held);
    await expect.poll(async () => (await retry()).status).toBe(200);
    // Its slot is free again.
    expect((await invokeAgent(perch(), organisation.adminKey, { message: "next" })).status).toBe(200);
  }, 30_000);

  test("is refused while the agent is paused", async () => {
    const organisation = await createOrganisationWithAgent({});
    const retry = await claim(organisation);
    ok(await organisation.call("POST /v1/agents/{agent_id}/pause", { params: { agent_id: "bot" } }));
    expect(await retry()).toMatchObject({ status: 409, error: { message: expect.stringContaining("paused") } });
    ok(await organisation.call("POST /v1/agents/{agent_id}/resume", { params: { agent_id: "bot" } }));
    expect((await retry()).status).toBe(200);
  }, 30_000);
});
