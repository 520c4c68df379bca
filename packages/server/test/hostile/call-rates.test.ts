import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startToolServer, type ToolServer } from "@perch/testkit/servers/tool-server.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actFor } from "../../src/fairness/acting-organisation.ts";
import type { Bucket } from "../../src/limits/gate.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { createModelProvider } from "../support/create-model-provider.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { invokeAgent } from "../support/invoke-calls.ts";

/** Written out: a test that read it from the contract would pass whatever it is. */
const callsPerMinute = 120;

const perch = usePerch(
  {
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
    publicUrl: "http://127.0.0.1:9",
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
  },
  { withWorker: true },
);
let receiver: ToolServer;
beforeAll(async () => {
  receiver = await startToolServer();
});
afterAll(() => receiver.close());

/** An agent whose every reply calls the receiver 32 times, as often as the limits of a run allow. */
async function createCaller({ call }: Organisation, steps: number, timeoutSeconds: number): Promise<void> {
  const calls = (step: number) =>
    Array.from({ length: 32 }, (_, index) => ({ name: "probe", arguments: { at: `${step}.${index}` } }));
  const replies = Array.from({ length: steps }, (_, step) => ({ tool_calls: calls(step) }));
  const probe = { type: "http" as const, name: "probe", description: "", method: "GET" as const, url: receiver.url };
  ok(
    await call("POST /v1/agents", {
      body: {
        name: "bot",
        model: "perch/script",
        instructions: JSON.stringify({ steps: [...replies, { reply: "done" }] }),
        tools: [{ ...probe, parameters: { type: "object" } }],
        limits: { max_steps: steps + 1, timeout_seconds: timeoutSeconds },
      },
    }),
  );
}

const callsOf = ({ id }: Organisation): number =>
  receiver.calls.filter(({ headers }) => headers["perch-organisation"] === id).length;

test("one run makes no more calls than its organisation's rate, and another organisation calls the same host", async () => {
  const loud = await perch().createOrganisation("free");
  const quiet = await perch().createOrganisation("free");
  await createCaller(loud, 45, 12);
  await createCaller(quiet, 1, 60);
  const startedMs = performance.now();
  const flood = invokeAgent(perch(), loud.adminKey, { message: "go" });
  await expect.poll(() => callsOf(loud)).toBeGreaterThanOrEqual(callsPerMinute / 2);

  const answer = await invokeAgent(perch(), quiet.adminKey, { message: "go" });
  expect({ status: answer.status, response: answer.data.response }).toEqual({ status: 200, response: "done" });
  expect(callsOf(quiet)).toBe(32);

  const ended = await flood;
  const minutes = (performance.now() - startedMs) / 60_000;
  expect(callsOf(loud)).toBeLessThanOrEqual(callsPerMinute / 2 + Math.ceil(callsPerMinute * minutes));
  // The run ended by its own limit, and its model was told why calls were refused.
  expect(ended.text).toMatch(/took longer than 12 s \(limits\.timeout_seconds\)/);
  const lines = ok(await loud.call("GET /v1/agents/{agent_id}/logs", { params: { agent_id: "bot" }, query: {} })).data;
  expect(JSON.stringify(lines)).toContain(`used up its ${callsPerMinute} calls to other servers a minute`);
});

test("beyond the rate no MCP server, remote agent or authorization server is called, and a model of its own is", async () => {
  const organisation = await perch().createOrganisation("free");
  const id = parsePublicId("organisation", organisation.id) ?? "";
  const { gate } = perch().server.core.shared;
  // As if it had just made the calls of four minutes.
  const calls: Bucket = { key: "calls", rate: { capacity: 10_000, intervalMs: 60_000 / callsPerMinute } };
  await Promise.all(Array.from({ length: 4 * callsPerMinute }, () => gate.pass(id, [calls])));

  const { call, adminKey } = organisation;
  const { url } = receiver;
  const params = { agent_id: "bot" };
  const refused = `used up its ${callsPerMinute} calls to other servers a minute`;
  const before = receiver.calls.length;
  const tool = { type: "mcp" as const, name: "docs", url };
  const body = { name: "bot", model: "perch/echo", tools: [tool], limits: { timeout_seconds: 5 } };
  ok(await call("POST /v1/agents", { body }));
  expect(JSON.stringify(ok(await call("POST /v1/agents/{agent_id}/check", { params })).data)).toContain(refused);
  const listed = await invokeAgent(perch(), adminKey, { message: "go" });
  expect(listed.error).toMatchObject({ code: "run_failed", message: expect.stringContaining(refused) });
  ok(await call("PATCH /v1/agents/{agent_id}", { params, body: { tools: [], runtime: { type: "http", url } } }));
  const remote = await invokeAgent(perch(), adminKey, { message: "go" });
  expect(remote.error).toMatchObject({ code: "run_failed", message: expect.stringContaining(refused) });
  const connection = { account: "user" as const, return_urls: [] };
  const options = { registrations: { find: async () => undefined, save: async () => undefined } };
  const discovery = actFor(id, () =>
    perch().server.core.outbound.oauth.discoverConfiguration(
      { organisationId: id, agentId: null },
      { ...tool, connection },
      { ...options, signal: AbortSignal.timeout(5000) },
    ),
  );
  await expect(discovery).rejects.toThrow(refused);
  expect(receiver.calls.length).toBe(before);

  await createModelProvider(organisation, url);
  ok(await call("PATCH /v1/agents/{agent_id}", { params, body: { runtime: { type: "model" }, model: "acme/small" } }));
  await invokeAgent(perch(), adminKey, { message: "go" });
  expect(receiver.calls.length).toBeGreaterThan(before);
});
