import { modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { describe, expect, test } from "vitest";
import {
  createModelRequest,
  createTestModel,
  expectFailure,
  messagesAfterToolCalls,
  startTestModel,
  weatherTool,
} from "../../../test/support/model-requests.ts";
import { PermanentModelError, TransientModelError } from "./model.ts";

const { server, patient, answering, failing } = await startTestModel(startOpenAiServer, "openai", "gpt-4.1");

describe("openai", () => {
  test("sends one request to the Responses API with store: false, and counts the tokens", async () => {
    const before = server.calls.length;
    const reply = await answering({ text: "It rains in Oslo.", usage: { input: 31, output: 7 } }, { temperature: 0.5 });
    expect(reply).toEqual({ text: "It rains in Oslo.", toolCalls: [], tokens: 38 });
    expect(server.calls.length - before).toBe(1);
    const call = server.calls.at(-1);
    expect(call?.path).toBe("/v1/responses");
    expect(call?.body).toMatchObject({ model: "gpt-4.1", stream: true, store: false, temperature: 0.5 });
    expect(call?.headers).toMatchObject({
      authorization: `Bearer ${modelServerKey}`,
      "x-client-request-id": "req_1-1",
    });
  });

  test("streams text as it arrives", async () => {
    const seen: unknown[] = [];
    const onText = (delta: string) => seen.push([delta, server.calls.at(-1)?.answered]);
    await answering({ text: "one two", tokenDelayMs: 100 }, { onText });
    expect(seen[0]).toEqual(["one ", false]);
    expect(seen.length).toBe(2);
  });

  test("returns parallel tool calls, without the ids of items that OpenAI does not store", async () => {
    const toolCalls = [
      { id: "c1", name: "weather", arguments: { city: "Oslo" } },
      { id: "c2", name: "weather", arguments: "{not json" },
    ];
    const reply = await answering({ text: "Let me see.", toolCalls }, { tools: [weatherTool] });
    expect(reply).toEqual({ text: "Let me see.", toolCalls, tokens: 30 });
    expect(server.calls.at(-1)?.body.tools).toEqual([{ type: "function", ...weatherTool, strict: false }]);
  });

  test("sends tool calls and their results back in full", async () => {
    await answering({ text: "Rain." }, { messages: messagesAfterToolCalls() });
    const call = (call_id: string, input: object) => ({
      type: "function_call",
      call_id,
      name: "weather",
      arguments: JSON.stringify(input),
    });
    expect(server.calls.at(-1)?.body.input).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: [{ type: "input_text", text: "How is the weather?" }] },
      { role: "assistant", content: "Let me see." },
      call("c1", { city: "Oslo" }),
      call("c2", { unreadable: "{not json" }),
      { type: "function_call_output", call_id: "c1", output: "Rain." },
      { type: "function_call_output", call_id: "c2", output: '{"error":"These are no arguments."}' },
    ]);
  });

  test.each(["cut", "end-early", "malformed", "error", "hang", "hang-midway"] as const)(
    "%s is a transient failure",
    async (behaviour) => {
      const failure = await failing({ behaviour });
      expect(failure).toBeInstanceOf(TransientModelError);
      expect(failure.message).toContain("acme/gpt-4.1");
    },
  );

  test("keeps the text up to the output limit; a content filter that leaves no text is a permanent failure", async () => {
    expect((await answering({ text: "half of", finish: "length" })).text).toBe("half of");
    expect(await failing({ finish: "content-filter" })).toBeInstanceOf(PermanentModelError);
  });

  test("distinguishes a wrong key, an exhausted quota, a bad request, a busy server", async () => {
    const errorBody = (message: string, code: string) => ({ error: { message, type: code, param: null, code } });
    const wrongKey = await expectFailure(
      createTestModel(server, "openai", { apiKey: "sk-wrong" })(createModelRequest()),
    );
    expect(wrongKey.message).toContain("acme refuses the API key");
    const quota = await failing({ status: 429, body: errorBody("You exceeded your quota.", "insufficient_quota") });
    expect(quota).toBeInstanceOf(PermanentModelError);
    const bad = await failing({ status: 400, body: errorBody(`No: ${modelServerKey}!`, "invalid_value") });
    expect(bad).toEqual(new PermanentModelError("acme/gpt-4.1 refuses the request (400): No: [hidden]"));
    const busy = await failing({
      status: 429,
      headers: { "retry-after": "3" },
      body: errorBody("Slow.", "rate_limit"),
    });
    expect(busy).toMatchObject({ retryAfterMs: 3000 });
  });

  test("an aborted call rejects at once, and the connection to the provider is closed", async () => {
    const startedAt = performance.now();
    const reply = answering({ behaviour: "hang-midway" }, { signal: AbortSignal.timeout(50) }, patient);
    await expect(reply).rejects.toThrow("aborted");
    expect(performance.now() - startedAt).toBeLessThan(5000);
    await expect.poll(() => server.calls.at(-1)?.clientClosed).toBe(true);
  });
});
