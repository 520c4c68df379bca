import { startAnthropicServer } from "@perch/testkit/servers/models/anthropic-server.ts";
import { modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
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

const { server, patient, answering, failing } = await startTestModel(
  startAnthropicServer,
  "anthropic",
  "claude-sonnet-4-5",
);
const errorBody = (type: string, message: string) => ({ type: "error", error: { type, message } });

describe("anthropic", () => {
  test("sends one request, returns the text, and counts the tokens", async () => {
    const before = server.calls.length;
    const reply = await answering({ text: "It rains in Oslo.", usage: { input: 31, output: 7 } });
    expect(reply).toEqual({ text: "It rains in Oslo.", toolCalls: [], tokens: 38 });
    expect(server.calls.length - before).toBe(1);
    const call = server.calls.at(-1);
    expect(call?.body).toMatchObject({ model: "claude-sonnet-4-5", stream: true, max_tokens: expect.any(Number) });
    expect(call?.headers).toMatchObject({ "x-api-key": modelServerKey, "anthropic-version": "2023-06-01" });
  });

  test("streams text as it arrives", async () => {
    const seen: unknown[] = [];
    const onText = (delta: string) => seen.push([delta, server.calls.at(-1)?.answered]);
    await answering({ text: "one two", tokenDelayMs: 100 }, { onText });
    expect(seen[0]).toEqual(["one ", false]);
    expect(seen.length).toBe(2);
  });

  test("returns parallel tool calls, whose arguments are not streamed", async () => {
    const toolCalls = [
      { id: "c1", name: "weather", arguments: { city: "Oslo" } },
      { id: "c2", name: "weather", arguments: {} },
    ];
    const reply = await answering({ text: "Let me see.", toolCalls }, { tools: [weatherTool] });
    expect(reply).toEqual({ text: "Let me see.", toolCalls, tokens: 30 });
    const { parameters: input_schema, ...tool } = weatherTool;
    expect(server.calls.at(-1)?.body.tools).toEqual([{ ...tool, input_schema }]);
  });

  test("sends tool calls back, and their results in one user message", async () => {
    await answering({ text: "Rain." }, { messages: messagesAfterToolCalls() });
    const use = (id: string, input: object) => ({ type: "tool_use", id, name: "weather", input });
    const { system, messages } = server.calls.at(-1)?.body ?? {};
    expect(system).toEqual([{ type: "text", text: "Be kind." }]);
    expect(messages).toEqual([
      { role: "user", content: [{ type: "text", text: "How is the weather?" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me see." },
          use("c1", { city: "Oslo" }),
          use("c2", { unreadable: "{not json" }),
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "Rain." },
          { type: "tool_result", tool_use_id: "c2", content: "These are no arguments.", is_error: true },
        ],
      },
    ]);
  });

  test.each(["cut", "end-early", "malformed", "error", "hang", "hang-midway"] as const)(
    "%s is a transient failure",
    async (behaviour) => {
      const failure = await failing({ behaviour });
      expect(failure).toBeInstanceOf(TransientModelError);
      expect(failure.message).toContain("acme/claude-sonnet-4-5");
    },
  );

  test("keeps the text up to the output limit; a refusal without text is a permanent failure", async () => {
    expect((await answering({ text: "half of", finish: "length" })).text).toBe("half of");
    expect(await failing({ finish: "content-filter" })).toBeInstanceOf(PermanentModelError);
  });

  test("distinguishes a wrong key, a bad request, an overloaded server", async () => {
    const wrongKey = await expectFailure(
      createTestModel(server, "anthropic", { apiKey: "sk-wrong" })(createModelRequest()),
    );
    expect(wrongKey.message).toContain("acme refuses the API key");
    const bad = await failing({ status: 400, body: errorBody("invalid_request_error", `No: ${modelServerKey}`) });
    expect(bad).toEqual(new PermanentModelError("acme/claude-sonnet-4-5 refuses the request (400): No: [hidden]"));
    const busy = await failing({
      status: 529,
      headers: { "retry-after": "3" },
      body: errorBody("overloaded_error", "Overloaded"),
    });
    expect(busy).toBeInstanceOf(TransientModelError);
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
