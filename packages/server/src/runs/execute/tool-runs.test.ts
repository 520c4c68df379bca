import { setTimeout as sleep } from "node:timers/promises";
import type { AgentDefinitionPatch } from "@perch/contract";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { startMcpServer, textResult } from "@perch/testkit/servers/mcp-server.ts";
import { type AnswerCall, modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import {
  type HttpToolAnswer,
  type HttpToolCall,
  hang,
  startToolServer,
  type TestServer,
} from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { invokeAgent, waitForRunRecord } from "../../../test/support/invoke-calls.ts";

/** The model's replies to this message, step by step; after that "done". */
const replies = new Map<string, (step: number) => object | undefined>();
const script = await startScriptServer((call) => replies.get(lastUserMessage(call))?.(call.step) ?? { reply: "done" });
afterAll(() => script.close());

let answerCall: AnswerCall = () => ({ text: "done" });
const provider = await startOpenAiServer((call) => answerCall(call));
afterAll(() => provider.close());

const perch = usePerch(
  {
    scriptModelUrl: script.url,
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
    providers: [
      { type: "openai-compatible", name: "local", baseUrl: provider.url, apiKey: modelServerKey, models: [] },
    ],
  },
  { withWorker: true },
);
const guarded = usePerch({ scriptModelUrl: script.url }, { withWorker: true });

type Tools = NonNullable<AgentDefinitionPatch["tools"]>;
const mcp = (url: string): Tools[number] => ({ type: "mcp", name: "orders", url });
const http = (url: string, name = "book"): Tools[number] => ({
  type: "http",
  name,
  description: "Does something.",
  method: "POST",
  url,
  parameters: { type: "object" },
});
const callTools = (...calls: readonly (readonly [string, unknown])[]) => ({
  tool_calls: calls.map(([name, input]) => ({ name, arguments: input })),
});
const onFirstStep = (reply: object) => (step: number) => (step === 1 ? reply : undefined);

function closeAfterTest<T extends TestServer>(server: T): T {
  onTestFinished(() => server.close());
  return server;
}
const startToolServerForTest = async (
  answer?: (call: HttpToolCall) => HttpToolAnswer | undefined | Promise<HttpToolAnswer>,
) => closeAfterTest(await startToolServer(answer));

async function createOrganisationWithAgent(
  tools: Tools,
  limits = {},
  node = perch(),
  model = "perch/script",
): Promise<Organisation> {
  const organisation = await node.createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model, tools, limits } }));
  return organisation;
}

const stepsOf = (message: string) =>
  script.calls.filter((call) => lastUserMessage(call) === message).map(({ step }) => step);
/** The tool results that the model was sent with this step. */
const toolResultsAt = (step: number, message: string) =>
  script.calls
    .find((call) => lastUserMessage(call) === message && call.step === step)
    ?.messages.filter(({ role }) => role === "tool");
const keysOf = (calls: readonly { readonly headers: HttpToolCall["headers"] }[]) =>
  calls.map(({ headers }) => headers["idempotency-key"]);

describe("the tools of a run", () => {
  test("MCP and HTTP tools are called, each call with its own key, and the model gets the results", async () => {
    verifies("tools.calls");
    const orders = closeAfterTest(await startMcpServer());
    const booking = await startToolServerForTest(() => ({ body: { booked: true } }));
    const message = "two of each";
    const first = callTools(["orders_lookup_order", { id: "A1" }], ["book", { room: 7 }]);
    const second = callTools(["book", { room: 8 }], ["orders_add", { a: 2, b: 3 }]);
    replies.set(message, (step) => [first, second][step - 1]);
    const { adminKey } = await createOrganisationWithAgent([mcp(orders.url), http(booking.url)]);
    const { data } = await invokeAgent(perch(), adminKey, { message });
    expect(data.response).toBe("done");

    const id = data.request_id;
    expect(id).toMatch(/^req_/);
    expect(keysOf(orders.calls)).toEqual([`${id}-1.1`, `${id}-2.2`]);
    expect(keysOf(booking.calls)).toEqual([`${id}-1.2`, `${id}-2.1`]);
    for (const { headers } of [...orders.calls, ...booking.calls]) expect(headers["x-request-id"]).toBe(id);
    expect(booking.calls.map(({ body }) => JSON.parse(body))).toEqual([{ room: 7 }, { room: 8 }]);
    expect(orders.calls.map(({ arguments: given }) => given)).toEqual([{ id: "A1" }, { a: 2, b: 3 }]);
    expect(toolResultsAt(3, message)).toMatchObject([
      { callId: "call-1-1", name: "orders_lookup_order", content: '{"id":"A1","status":"shipped"}', failed: false },
      { callId: "call-1-2", name: "book", content: '{"booked":true}', failed: false },
      { callId: "call-2-1", name: "book", content: '{"booked":true}', failed: false },
      { callId: "call-2-2", name: "orders_add", content: "5", failed: false },
    ]);
    // Listed once: a run has the same tools to its end.
    expect(orders.requests.filter(({ rpc }) => rpc === "tools/list")).toHaveLength(1);
  });

  test("the calls of one reply run concurrently, and their results are in the order of the calls", async () => {
    verifies("tools.calls");
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    /** Each tool waits until the other is called too, which only concurrent calls can satisfy. */
    const waitForOther = (other: Promise<void>) => Promise.race([other.then(() => "together"), sleep(3000, "alone")]);
    const orders = closeAfterTest(
      await startMcpServer({
        answer: async () => {
          first.resolve();
          const how = await waitForOther(second.promise);
          await sleep(100);
          return textResult(`first, ${how}`);
        },
      }),
    );
    const booking = await startToolServerForTest(async () => {
      second.resolve();
      return { body: `second, ${await waitForOther(first.promise)}` };
    });
    const message = "side by side";
    replies.set(message, onFirstStep(callTools(["orders_add", {}], ["book", {}])));
    const { adminKey } = await createOrganisationWithAgent([mcp(orders.url), http(booking.url)]);
    await invokeAgent(perch(), adminKey, { message });
    expect(toolResultsAt(2, message)?.map(({ content }) => content)).toEqual(["first, together", "second, together"]);
  });

  test("a result of 5 MB is truncated to 64 KiB and a note", async () => {
    verifies("tools.calls");
    const books = await startToolServerForTest(() => ({
      headers: { "content-type": "text/plain" },
      body: "x".repeat(5_000_000),
    }));
    const orders = closeAfterTest(await startMcpServer({ answer: () => textResult("y".repeat(3_000_000)) }));
    const message = "everything";
    replies.set(message, onFirstStep(callTools(["book", {}], ["orders_add", {}])));
    const { adminKey } = await createOrganisationWithAgent([mcp(orders.url), http(books.url)]);
    expect((await invokeAgent(perch(), adminKey, { message })).data.response).toBe("done");
    const results = toolResultsAt(2, message)?.map(({ content }) => content) ?? [];
    expect(results.map((content) => content.slice(65_535))).toEqual([
      "x\n[cut: 64 KiB of more than 1 MiB]",
      "y\n[cut: 64 KiB of 2.9 MiB]",
    ]);
  });

  test("a run that repeats the same call is stopped: the fifth call is not made", async () => {
    verifies("tools.calls");
    const booking = await startToolServerForTest();
    const message = "for ever";
    replies.set(message, (step) => callTools(["book", step % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 }]));
    const organisation = await createOrganisationWithAgent([http(booking.url)]);
    const { status, error } = await invokeAgent(perch(), organisation.adminKey, { message });
    expect(status).toBe(422);
    expect(error.message).toContain(
      "The model called the tool book 5 times with the same arguments: stopped as a loop. Say in `instructions` when to stop.",
    );
    expect(booking.calls).toHaveLength(4);
    expect(new Set(keysOf(booking.calls)).size).toBe(4);
    const id = String(booking.calls[0]?.headers["x-request-id"]);
    expect(await waitForRunRecord(organisation, id)).toMatchObject({ status: "failed", steps: 5 });
  });

  test("a run that needs more model calls than its limit fails, and the error names the limit", async () => {
    const booking = await startToolServerForTest();
    const message = "on and on";
    replies.set(message, (step) => callTools(["book", { step }]));
    const { adminKey } = await createOrganisationWithAgent([http(booking.url)], { max_steps: 3 });
    const { error } = await invokeAgent(perch(), adminKey, { message });
    expect(error.message).toContain("The run needed more than 3 model calls (limits.max_steps).");
    expect(stepsOf(message)).toEqual([1, 2, 3]);
  });

  test("a run is listed while its tool works; if cancelled then, it ends when the tool has answered", async () => {
    const work = Promise.withResolvers<HttpToolAnswer>();
    const booking = await startToolServerForTest(() => work.promise);
    const message = "stop it";
    replies.set(message, onFirstStep(callTools(["book", {}])));
    const organisation = await createOrganisationWithAgent([http(booking.url)]);
    const waiting = invokeAgent(perch(), organisation.adminKey, { message });
    await expect.poll(() => booking.calls.length).toBe(1);
    const id = String(booking.calls[0]?.headers["x-request-id"]);
    expect((await waitForRunRecord(organisation, id, () => true)).status).toBe("running");
    const params = { agent_id: "bot", request_id: id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params }));
    expect((await waitForRunRecord(organisation, id, () => true)).status).toBe("running");
    work.resolve({ body: "at last" });
    expect((await waiting).status).toBe(409);
    expect(await waitForRunRecord(organisation, id)).toMatchObject({ status: "cancelled", steps: 1 });
    expect(stepsOf(message)).toEqual([1]);
  });
});

describe("a tool that fails", () => {
  test("busy once: it is called again after its Retry-After, with the same key, and the run completes", async () => {
    verifies("tools.calls");
    const times: number[] = [];
    const booking = await startToolServerForTest(() => {
      times.push(performance.now());
      return times.length === 1 ? { status: 503, headers: { "retry-after": "1" } } : { body: "booked" };
    });
    const message = "busy";
    replies.set(message, onFirstStep(callTools(["book", {}])));
    const { adminKey } = await createOrganisationWithAgent([http(booking.url)]);
    const { data } = await invokeAgent(perch(), adminKey, { message });
    expect(data.response).toBe("done");
    expect(keysOf(booking.calls)).toEqual([`${data.request_id}-1.1`, `${data.request_id}-1.1`]);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990);
    expect(toolResultsAt(2, message)).toMatchObject([{ content: "booked", failed: false }]);
  });

  test("permanently: after three attempts the model gets the failure and can still answer; calls that succeeded are not repeated", async () => {
    verifies("tools.calls");
    const broken = await startToolServerForTest(() => ({ status: 500, body: "secret stack trace" }));
    const working = await startToolServerForTest(() => ({ body: "worked" }));
    const message = "broken";
    replies.set(message, onFirstStep(callTools(["broken", {}], ["working", {}])));
    const { adminKey } = await createOrganisationWithAgent([http(broken.url, "broken"), http(working.url, "working")]);
    const { data } = await invokeAgent(perch(), adminKey, { message });
    expect(data.response).toBe("done");
    expect(keysOf(broken.calls)).toEqual(Array(3).fill(`${data.request_id}-1.1`));
    expect(working.calls).toHaveLength(1);
    expect(toolResultsAt(2, message)).toMatchObject([
      { content: "The tool failed: The tool broken answered 500.", failed: true },
      { content: "worked", failed: false },
    ]);
  });

  test("without an answer: the run ends at its time limit", async () => {
    const booking = await startToolServerForTest(hang);
    const message = "no answer";
    replies.set(message, onFirstStep(callTools(["book", {}])));
    const { adminKey } = await createOrganisationWithAgent([http(booking.url)], { timeout_seconds: 2 });
    const startedAt = performance.now();
    const { status, error } = await invokeAgent(perch(), adminKey, { message });
    expect(performance.now() - startedAt).toBeLessThan(3500);
    expect(status).toBe(422);
    expect(error.message).toContain("(limits.timeout_seconds)");
    expect(booking.calls).toHaveLength(1);
  });

  test("by refusing, or because it does not exist: the model gets the failure at once", async () => {
    const booking = await startToolServerForTest(() => ({ status: 422, body: { error: "room must be a number" } }));
    const orders = closeAfterTest(
      await startMcpServer({ answer: () => ({ ...textResult("no such order"), isError: true }) }),
    );
    const message = "refused";
    const calls = [
      ["book", {}],
      ["orders_lookup_order", { id: "?" }],
      ["orders_nothing", {}],
      ["book", "x"],
    ] as const;
    replies.set(message, onFirstStep(callTools(...calls)));
    const { adminKey } = await createOrganisationWithAgent([mcp(orders.url), http(booking.url)]);
    expect((await invokeAgent(perch(), adminKey, { message })).data.response).toBe("done");
    expect(booking.calls).toHaveLength(1);
    expect(orders.calls).toHaveLength(1);
    expect(toolResultsAt(2, message)).toMatchObject([
      { content: 'The tool book answered 422: {"error":"room must be a number"}', failed: true },
      { content: "no such order", failed: true },
      { content: "There is no tool orders_nothing.", failed: true },
      { content: expect.stringContaining("The arguments of book must be a JSON object"), failed: true },
    ]);
  });
});

describe("an MCP server that does not answer when the run begins", () => {
  test("and comes up later: the run waits for it and completes", async () => {
    verifies("tools.calls");
    let up = false;
    const orders = closeAfterTest(await startMcpServer({ refuse: () => (up ? undefined : { status: 0 }) }));
    const message = "later";
    replies.set(message, onFirstStep(callTools(["orders_add", { a: 1, b: 1 }])));
    const { adminKey } = await createOrganisationWithAgent([mcp(orders.url)]);
    const waiting = invokeAgent(perch(), adminKey, { message });
    await expect.poll(() => orders.requests.length).toBeGreaterThan(2);
    expect(stepsOf(message)).toEqual([]);
    up = true;
    expect((await waiting).data.response).toBe("done");
    expect(toolResultsAt(2, message)).toMatchObject([{ content: "2" }]);
  });

  test("and never comes up: the run fails within its time limit, and the error names the server", async () => {
    const message = "never";
    const { adminKey } = await createOrganisationWithAgent([mcp(`http://127.0.0.1:${await freePort()}/mcp`)], {
      timeout_seconds: 3,
    });
    const startedAt = performance.now();
    const { status, error } = await invokeAgent(perch(), adminKey, { message });
    expect(performance.now() - startedAt).toBeLessThan(4500);
    expect(status).toBe(422);
    expect(error.message).toContain(
      "The MCP server orders could not be reached: it refuses connections (ECONNREFUSED).",
    );
    expect(error.message).toContain("(limits.timeout_seconds)");
    expect(stepsOf(message)).toEqual([]);
  });
});

describe("a tool at a private address that the operator does not allow", () => {
  test("an MCP server: the run fails, and the error names the setting that allows it", async () => {
    verifies("outbound.guarded");
    const orders = closeAfterTest(await startMcpServer());
    const { adminKey } = await createOrganisationWithAgent([mcp(orders.url)], {}, guarded());
    const { status, error } = await invokeAgent(guarded(), adminKey, { message: "inside" });
    expect(status).toBe(422);
    expect(error.message).toContain("PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES");
    expect(orders.requests).toEqual([]);
  });

  test("an HTTP tool: the model gets the failure, and nothing is sent", async () => {
    verifies("outbound.guarded");
    const booking = await startToolServerForTest();
    const message = "book inside";
    replies.set(message, onFirstStep(callTools(["book", {}])));
    const { adminKey } = await createOrganisationWithAgent([http(booking.url)], {}, guarded());
    expect((await invokeAgent(guarded(), adminKey, { message })).data.response).toBe("done");
    expect(toolResultsAt(2, message)).toMatchObject([
      { content: expect.stringContaining("PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES"), failed: true },
    ]);
    expect(booking.calls).toEqual([]);
  });
});

describe("a provider's model", () => {
  test("is sent the tools, calls them, and gets each result with the id of its call", async () => {
    verifies("tools.calls");
    const orders = closeAfterTest(await startMcpServer());
    const booking = await startToolServerForTest(() => ({ status: 409, body: "taken" }));
    const toolCalls = [
      { id: "call_a", name: "orders_lookup_order", arguments: { id: "A1" } },
      { id: "call_b", name: "book", arguments: { room: 7 } },
      { id: "call_c", name: "book", arguments: "{no json" },
    ];
    const again = { id: "call_d", name: "orders_add", arguments: { a: 2, b: 3 } };
    const providerReplies = [{ text: "Let me see.", toolCalls }, { toolCalls: [again] }];
    answerCall = ({ number }) => providerReplies[number - 1] ?? { text: "It is shipped, 5 of them." };
    const { adminKey } = await createOrganisationWithAgent(
      [mcp(orders.url), http(booking.url)],
      {},
      perch(),
      "local/small",
    );
    const { data } = await invokeAgent(perch(), adminKey, { message: "where is A1?" });
    expect(data).toMatchObject({ response: "It is shipped, 5 of them.", tokens_used: 90 });

    const [first, second, third] = provider.calls.map(({ body }) => body);
    const offered = ["book", "orders_lookup_order", "orders_add"].map((name) => ({
      type: "function",
      function: { name },
    }));
    for (const body of [first, second, third]) expect(body).toMatchObject({ tools: offered });
    const called = ({ id, name }: { id: string; name: string }, input: object) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    });
    const [a, b, c] = toolCalls as [(typeof toolCalls)[0], (typeof toolCalls)[0], (typeof toolCalls)[0]];
    const messagesOfSecondCall = [
      { role: "user", content: "where is A1?" },
      {
        role: "assistant",
        content: "Let me see.",
        tool_calls: [called(a, { id: "A1" }), called(b, { room: 7 }), called(c, { unreadable: "{no json" })],
      },
      { role: "tool", tool_call_id: "call_a", content: '{"id":"A1","status":"shipped"}' },
      { role: "tool", tool_call_id: "call_b", content: "The tool book answered 409: taken" },
      { role: "tool", tool_call_id: "call_c", content: expect.stringContaining("must be a JSON object") },
    ];
    expect(second?.messages).toEqual(messagesOfSecondCall);
    expect(third?.messages).toMatchObject([
      ...messagesOfSecondCall,
      { role: "assistant", tool_calls: [called(again, { a: 2, b: 3 })] },
      { role: "tool", tool_call_id: "call_d", content: "5" },
    ]);
    expect(keysOf([...orders.calls, ...booking.calls])).toEqual(
      ["1.1", "2.1", "1.2"].map((at) => `${data.request_id}-${at}`),
    );
  });
});
