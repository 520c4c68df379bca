import { setTimeout as sleep } from "node:timers/promises";
import { modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { describe, expect, test } from "vitest";
import {
  createModelRequest,
  expectFailure,
  messagesAfterToolCalls,
  startTestModel,
  weatherTool,
} from "../../../test/support/model-requests.ts";
import { PermanentModelError, TransientModelError } from "./model.ts";
import { createProviderModel } from "./provider-model.ts";

const { server, patient, answering, failing } = await startTestModel(startOpenAiServer, "openai-compatible");

describe("openai-compatible", () => {
  test("returns the text, and the provider's token count", async () => {
    const reply = await answering({ text: "It rains in Oslo.", usage: { input: 31, output: 7 } });
    expect(reply).toEqual({ text: "It rains in Oslo.", toolCalls: [], tokens: 38 });
    const call = server.calls.at(-1);
    expect(call?.body).toEqual({
      model: "test-model",
      messages: [{ role: "user", content: "hello" }],
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(call?.headers).toMatchObject({
      authorization: `Bearer ${modelServerKey}`,
      "x-client-request-id": "req_1-1",
    });
  });

  test("streams all text as it arrives, before the response ends", async () => {
    const pieces: string[] = [];
    let answeredAtFirst: boolean | undefined;
    const onText = (delta: string) => {
      answeredAtFirst ??= server.calls.at(-1)?.answered;
      pieces.push(delta);
    };
    const { text } = await answering({ text: "one two three", tokenDelayMs: 40 }, { onText });
    expect(answeredAtFirst).toBe(false);
    expect(pieces).toEqual(["one ", "two ", "three"]);
    expect(text).toBe("one two three");
  });

  test("estimates tokens when the provider reports none, rather too many than too few", async () => {
    const { tokens } = await answering({ text: "It rains.", usage: null });
    expect(tokens).toBeGreaterThan(10);
    expect(tokens).toBeLessThan(40);
  });

  test("sends tools and temperature, and returns parallel tool calls whose arguments are streamed", async () => {
    const toolCalls = [
      { id: "c1", name: "weather", arguments: { city: "Oslo" } },
      { id: "c2", name: "weather", arguments: { city: "Bergen" } },
      { id: "c3", name: "weather", arguments: "{not json" },
      { id: "c4", name: "weather", arguments: "" },
      // Stored as text, because it is too deep to be written as JSON again.
      { id: "c5", name: "weather", arguments: `${"[".repeat(50_000)}${"]".repeat(50_000)}` },
    ];
    const reply = await answering({ toolCalls }, { tools: [weatherTool], temperature: 0.5 });
    expect(reply.toolCalls).toEqual([...toolCalls.slice(0, 3), { ...toolCalls[3], arguments: {} }, toolCalls[4]]);
    expect(server.calls.at(-1)?.body).toMatchObject({
      temperature: 0.5,
      tools: [{ type: "function", function: weatherTool }],
    });
  });

  test("sends tool calls back, each with its result", async () => {
    await answering({ text: "Rain." }, { messages: messagesAfterToolCalls() });
    const called = (id: string, input: object) => ({
      id,
      type: "function",
      function: { name: "weather", arguments: JSON.stringify(input) },
    });
    expect(server.calls.at(-1)?.body.messages).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: "How is the weather?" },
      {
        role: "assistant",
        content: "Let me see.",
        tool_calls: [called("c1", { city: "Oslo" }), called("c2", { unreadable: "{not json" })],
      },
      { role: "tool", tool_call_id: "c1", content: "Rain." },
      { role: "tool", tool_call_id: "c2", content: "These are no arguments." },
    ]);
  });

  test("keeps Gemini's thought signature behind a compatible API, and sends it back", async () => {
    const { toolCalls } = await answering({
      toolCalls: [{ id: "c1", name: "weather", arguments: {}, thoughtSignature: "signed" }],
    });
    const messages = [{ role: "assistant" as const, content: "", toolCalls }];
    await answering({ text: "Rain." }, { messages: JSON.parse(JSON.stringify(messages)) });
    expect(server.calls.at(-1)?.body.messages).toMatchObject([
      { tool_calls: [{ id: "c1", extra_content: { google: { thought_signature: "signed" } } }] },
    ]);
  });

  test("sends no Authorization header without a key", async () => {
    let authorization: string | null | undefined;
    const keyless = createProviderModel(
      { name: "acme", type: "openai-compatible", baseUrl: server.url, apiKey: null },
      "m",
      {
        fetch: async (_, init) => {
          authorization = new Headers(init?.headers).get("authorization");
          return new Response("{}", { status: 400 });
        },
        idleTimeoutMs: 400,
      },
    );
    expect(await expectFailure(keyless(createModelRequest()))).toBeInstanceOf(PermanentModelError);
    expect(authorization).toBeNull();
  });
});

describe("an openai-compatible response that stops early", () => {
  test("keeps the text up to the output limit", async () => {
    expect((await answering({ text: "half of", finish: "length" })).text).toBe("half of");
    expect(await failing({ finish: "length" })).toBeInstanceOf(PermanentModelError);
  });

  test("a content filter that leaves no text is a permanent failure", async () => {
    const failure = await failing({ finish: "content-filter" });
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("content filter");
    expect((await answering({ text: "I'd rather not.", finish: "content-filter" })).text).toBe("I'd rather not.");
  });

  test.each(["cut", "end-early", "malformed", "error"] as const)(
    "%s in the middle is a transient failure",
    async (behaviour) => {
      const failure = await failing({ behaviour });
      expect(failure).toBeInstanceOf(TransientModelError);
      expect(failure.message).toContain("acme/test-model");
    },
  );

  test.each(["hang", "hang-midway"] as const)(
    "%s: the call is aborted after the idle timeout, and the connection is closed",
    async (behaviour) => {
      const startedAt = performance.now();
      const failure = await failing({ behaviour });
      expect(performance.now() - startedAt).toBeLessThan(5000);
      expect(failure).toEqual(new TransientModelError("acme/test-model sent nothing for 1.5 s."));
      await expect.poll(() => server.calls.at(-1)?.clientClosed).toBe(true);
    },
  );

  test("a slow response does not time out while text arrives", async () => {
    const text = "a b c d e";
    expect((await answering({ text, tokenDelayMs: 500 })).text).toBe(text);
  });

  test("a keep-alive comment resets the idle timeout", async () => {
    const last = { choices: [{ delta: { content: "at last" }, finish_reason: "stop" }] };
    const alive = async function* () {
      for (let count = 0; count < 4; count++) yield Buffer.from(await sleep(500, ": still at it\n\n"));
      yield Buffer.from(`data: ${JSON.stringify(last)}\n\n`);
    };
    const settings = { name: "acme", type: "openai-compatible", baseUrl: server.url, apiKey: null } as const;
    const options = { fetch: async () => new Response(ReadableStream.from(alive())), idleTimeoutMs: 1500 };
    expect((await createProviderModel(settings, "m", options)(createModelRequest())).text).toBe("at last");
  });

  test.each(["hang", "hang-midway"] as const)(
    "%s: an aborted call rejects at once with the caller's reason",
    async (behaviour) => {
      const pieces: string[] = [];
      const caller = new AbortController();
      const reason = new Error("The run's time is over.");
      const onText = (delta: string) => pieces.push(delta);
      const before = server.calls.length;
      const failure = expectFailure(answering({ behaviour }, { signal: caller.signal, onText }, patient));
      await expect.poll(() => [server.calls.length, pieces.length]).toEqual([before + 1, behaviour === "hang" ? 0 : 1]);
      const abortedAt = performance.now();
      caller.abort(reason);
      expect(await failure).toBe(reason);
      expect(performance.now() - abortedAt).toBeLessThan(5000);
      expect(pieces.length).toBe(behaviour === "hang" ? 0 : 1);
      await expect.poll(() => server.calls.at(-1)?.clientClosed).toBe(true);
    },
  );
});
