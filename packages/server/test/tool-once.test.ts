import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { verifies } from "../../../spec/verifies.ts";
import { ok } from "./contract-client.ts";
import { invokeAt } from "./invoking.ts";
import { type McpCall, startMcpServer } from "./mcp-server.ts";
import { lastSaid, startScriptServer } from "./script-server.ts";
import { hang, startToolServer } from "./tool-server.ts";
import { usePerchBehindDoor } from "./worker-door.ts";

const lookUp = { name: "orders_lookup_order", arguments: { id: "A1" } };
const add = { name: "orders_add", arguments: { a: 2, b: 3 } };
const note = { name: "note", arguments: { text: "seen" } };

/** The model calls of each run. Where one takes a second, there is time to kill the worker that makes it. */
const plays: Record<string, readonly object[]> = {
  "while the model thinks": [
    { tool_calls: [lookUp, note] },
    { tool_calls: [add], delay_ms: 1000 },
    { reply: "shipped, 5 of them" },
  ],
  "while a tool works": [{ tool_calls: [note, lookUp] }, { tool_calls: [add] }, { reply: "shipped, after all" }],
};
const script = await startScriptServer((call) => plays[lastSaid(call)]?.[call.step - 1] ?? { reply: "warm" });

const runOf = ({ headers }: { headers: McpCall["headers"] }) => String(headers["x-request-id"]);
const keyOf = ({ headers }: { headers: McpCall["headers"] }) => String(headers["idempotency-key"]);
/** The first worker to ask this tool never hears from it. */
let silentOnce = "";
const orders = await startMcpServer({
  answer: ({ tool }) => {
    if (tool !== silentOnce) return undefined;
    silentOnce = "";
    return hang();
  },
});
const notes = await startToolServer();
afterAll(() => Promise.all([script.close(), orders.close(), notes.close()]));

const behindDoor = usePerchBehindDoor({
  PERCH_SCRIPT_URL: script.url,
  PERCH_OUTBOUND_PRIVATE_RANGES: "127.0.0.0/8",
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
  script.calls.filter((call) => lastSaid(call) === message).map(({ step }) => step);

/** Two workers, the first of them known to work; an agent with tools; the run of this message under way. */
async function begin(message: string) {
  const { perch, haveWorkers } = behindDoor();
  await haveWorkers(1);
  const { call, adminKey } = await perch.newOrganisation();
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/script", tools } }));
  expect((await invokeAt(perch, adminKey, { message: "warm up" })).data.response).toBe("warm");
  await haveWorkers(2);
  const before = { orders: orders.calls.length, notes: notes.calls.length, requests: orders.requests.length };
  return {
    answer: invokeAt(perch, adminKey, { message }),
    toolCalls: () => orders.calls.slice(before.orders),
    noted: () => notes.calls.slice(before.notes),
    listings: () => orders.requests.slice(before.requests).filter(({ rpc }) => rpc === "tools/list"),
  };
}

describe("a worker that is killed", () => {
  test("while the model thinks about what the tools said: no tool is called again", async () => {
    verifies("tools.calls", "agent.run-steps");
    const message = "while the model thinks";
    const { answer, toolCalls, noted, listings } = await begin(message);
    await expect.poll(() => stepsOf(message), { timeout: 5000 }).toEqual([1, 2]);
    expect(toolCalls().map(({ tool }) => tool)).toEqual(["lookup_order"]);
    await behindDoor().loseWorker("SIGKILL");
    const { status, data } = await answer;
    expect([status, data.response]).toEqual([200, "shipped, 5 of them"]);
    expect(toolCalls().map(({ tool }) => tool)).toEqual(["lookup_order", "add"]);
    expect(toolCalls().map(keyOf)).toEqual([`${data.request_id}-1.1`, `${data.request_id}-2.1`]);
    expect(noted().map(runOf)).toEqual([data.request_id]);
    expect(listings()).toHaveLength(1);
    // Only the model call that was under way is made again.
    expect(stepsOf(message)).toEqual([1, 2, 2, 3]);
  }, 60_000);

  test("while a tool works: that call is made once more under the same key, and no other one is", async () => {
    verifies("tools.calls", "agent.run-steps");
    silentOnce = "lookup_order";
    const message = "while a tool works";
    const { answer, toolCalls, noted, listings } = await begin(message);
    await expect.poll(() => [toolCalls().length, noted().length], { timeout: 5000 }).toEqual([1, 1]);
    // The other call of the reply has its answer by then, and the engine knows it.
    await sleep(500);
    await behindDoor().loseWorker("SIGKILL");
    const { status, data } = await answer;
    expect([status, data.response]).toEqual([200, "shipped, after all"]);
    const key = (place: string) => `${data.request_id}-${place}`;
    expect(toolCalls().map((call) => [call.tool, keyOf(call)])).toEqual([
      ["lookup_order", key("1.2")],
      ["lookup_order", key("1.2")],
      ["add", key("2.1")],
    ]);
    expect(noted().map(keyOf)).toEqual([key("1.1")]);
    expect(listings()).toHaveLength(1);
    expect(stepsOf(message)).toEqual([1, 2, 3]);
  }, 60_000);
});
