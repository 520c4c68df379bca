import { setTimeout as sleep } from "node:timers/promises";
import { type McpCall, startMcpServer } from "@perch/testkit/servers/mcp-server.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { hang, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { invokeAgent } from "../support/invoke-calls.ts";
import { usePerchWithWorkerProcesses } from "../support/worker-processes.ts";

const lookUp = { name: "orders_lookup_order", arguments: { id: "A1" } };
const add = { name: "orders_add", arguments: { a: 2, b: 3 } };
const note = { name: "note", arguments: { text: "seen" } };

/** The model calls of each run. A call that takes a second gives time to kill its worker. */
const modelReplies: Record<string, readonly object[]> = {
  "while the model thinks": [
    { tool_calls: [lookUp, note] },
    { tool_calls: [add], delay_ms: 1000 },
    { reply: "shipped, 5 of them" },
  ],
  "while a tool works": [{ tool_calls: [note, lookUp] }, { tool_calls: [add] }, { reply: "shipped, after all" }],
};
const script = await startScriptServer(
  (call) => modelReplies[lastUserMessage(call)]?.[call.step - 1] ?? { reply: "warm" },
);

const runOf = ({ headers }: { headers: McpCall["headers"] }) => String(headers["x-request-id"]);
const keyOf = ({ headers }: { headers: McpCall["headers"] }) => String(headers["idempotency-key"]);
/** The next call of this tool hangs. */
let toolToHang = "";
const orders = await startMcpServer({
  answer: ({ tool }) => {
    if (tool !== toolToHang) return undefined;
    toolToHang = "";
    return hang();
  },
});
const notes = await startToolServer();
afterAll(() => Promise.all([script.close(), orders.close(), notes.close()]));

const perchWithWorkers = usePerchWithWorkerProcesses({
  PERCH_SCRIPT_MODEL_URL: script.url,
  PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
});

const tools = [
  { type: "mcp" as const, name: "orders", url: orders.url },
  {
    type: "http" as const,
    name: "note",
    description: "Takes a note.",
    method: "POST" as const,
    url: notes.url,
    parameters: { type: "object" as const },
  },
];
const stepsOf = (message: string): number[] =>
  script.calls.filter((call) => lastUserMessage(call) === message).map(({ step }) => step);

/** Starts two workers, creates an agent with tools, and starts a run with this message. */
async function startRun(message: string) {
  const { perch, ensureWorkers } = perchWithWorkers();
  await ensureWorkers(1);
  const { call, adminKey } = await perch.createOrganisation();
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/script", tools } }));
  expect((await invokeAgent(perch, adminKey, { message: "warm up" })).data.response).toBe("warm");
  await ensureWorkers(2);
  const before = { orders: orders.calls.length, notes: notes.calls.length, requests: orders.requests.length };
  return {
    answer: invokeAgent(perch, adminKey, { message }),
    toolCalls: () => orders.calls.slice(before.orders),
    noteCalls: () => notes.calls.slice(before.notes),
    listings: () => orders.requests.slice(before.requests).filter(({ rpc }) => rpc === "tools/list"),
  };
}

describe("a worker is killed", () => {
  test("during the model call after the tool calls: no tool is called again", async () => {
    verifies("tools.calls", "agent.run-steps");
    const message = "while the model thinks";
    const { answer, toolCalls, noteCalls, listings } = await startRun(message);
    await expect.poll(() => stepsOf(message)).toEqual([1, 2]);
    expect(toolCalls().map(({ tool }) => tool)).toEqual(["lookup_order"]);
    await perchWithWorkers().endActiveWorker("SIGKILL");
    const { status, data } = await answer;
    expect([status, data.response]).toEqual([200, "shipped, 5 of them"]);
    expect(toolCalls().map(({ tool }) => tool)).toEqual(["lookup_order", "add"]);
    expect(toolCalls().map(keyOf)).toEqual([`${data.request_id}-1.1`, `${data.request_id}-2.1`]);
    expect(noteCalls().map(runOf)).toEqual([data.request_id]);
    expect(listings()).toHaveLength(1);
    // Only the model call in progress is repeated.
    expect(stepsOf(message)).toEqual([1, 2, 2, 3]);
  }, 60_000);

  test("during a tool call: only that call is repeated, with the same key", async () => {
    verifies("tools.calls", "agent.run-steps");
    toolToHang = "lookup_order";
    const message = "while a tool works";
    const { answer, toolCalls, noteCalls, listings } = await startRun(message);
    await expect.poll(() => [toolCalls().length, noteCalls().length]).toEqual([1, 1]);
    // By then the other tool call of the reply is answered and journaled.
    await sleep(500);
    await perchWithWorkers().endActiveWorker("SIGKILL");
    const { status, data } = await answer;
    expect([status, data.response]).toEqual([200, "shipped, after all"]);
    const key = (callNumber: string) => `${data.request_id}-${callNumber}`;
    expect(toolCalls().map((call) => [call.tool, keyOf(call)])).toEqual([
      ["lookup_order", key("1.2")],
      ["lookup_order", key("1.2")],
      ["add", key("2.1")],
    ]);
    expect(noteCalls().map(keyOf)).toEqual([key("1.1")]);
    expect(listings()).toHaveLength(1);
    expect(stepsOf(message)).toEqual([1, 2, 3]);
  }, 60_000);
});
