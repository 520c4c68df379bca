import { startGoogleServer } from "@perch/testkit/servers/models/google-server.ts";
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

const { server, patient, answering, failing } = await startTestModel(startGoogleServer, "google", "gemini-2.5-flash");
const errorBody = (code: number, message: string, details: object[] = []) => ({
  error: { code, message, status: "X", details },
});

describe("google", () => {
  test("sends one request with the key in a header, not in the URL, and counts the tokens", async () => {
    const before = server.calls.length;
    const reply = await answering({ text: "It rains in Oslo.", usage: { input: 31, output: 7 } });
    expect(reply).toEqual({ text: "It rains in Oslo.", toolCalls: [], tokens: 38 });
    expect(server.calls.length - before).toBe(1);
    const call = server.calls.at(-1);
    expect(call?.path).toBe("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    expect(call?.headers).toMatchObject({ "x-goog-api-key": modelServerKey });
  });

  test("streams text as it arrives", async () => {
    const seen: unknown[] = [];
    const onText = (delta: string) => seen.push([delta, server.calls.at(-1)?.answered]);
    await answering({ text: "one two", tokenDelayMs: 100 }, { onText });
    expect(seen[0]).toEqual(["one ", false]);
    expect(seen.length).toBe(2);
  });

  test("returns parallel tool calls, with Gemini's thought signature", async () => {
    const call = { id: "c1", name: "weather", arguments: { city: "Oslo" } };
    const reply = await answering(
      {
        toolCalls: [
          { ...call, thoughtSignature: "signed" },
          { name: "weather", arguments: {} },
        ],
      },
      { tools: [weatherTool] },
    );
    expect(reply.toolCalls).toEqual([
      { ...call, providerMetadata: { google: { thoughtSignature: "signed" } } },
      // Older models give a call no id: one is made.
      { id: expect.stringMatching(/^\w{8,}$/), name: "weather", arguments: {} },
    ]);
    expect(server.calls.at(-1)?.body).toMatchObject({ tools: [{ functionDeclarations: [{ name: "weather" }] }] });
  });

  test("sends tool calls back with their signature, and the results in one message", async () => {
    const messages = messagesAfterToolCalls({ google: { thoughtSignature: "signed" } });
    await answering({ text: "Rain." }, { messages: JSON.parse(JSON.stringify(messages)) });
    const result = (id: string, response: object) => ({ functionResponse: { id, name: "weather", response } });
    const { systemInstruction, contents } = server.calls.at(-1)?.body ?? {};
    expect(systemInstruction).toEqual({ parts: [{ text: "Be kind." }] });
    expect(contents).toEqual([
      { role: "user", parts: [{ text: "How is the weather?" }] },
      {
        role: "model",
        parts: [
          { text: "Let me see." },
          { functionCall: { id: "c1", name: "weather", args: { city: "Oslo" } }, thoughtSignature: "signed" },
          { functionCall: { id: "c2", name: "weather", args: { unreadable: "{not json" } } },
        ],
      },
      {
        role: "user",
        parts: [
          result("c1", { name: "weather", content: "Rain." }),
          result("c2", { name: "weather", error: "These are no arguments." }),
        ],
      },
    ]);
  });

  test.each(["cut", "end-early", "malformed", "error", "hang", "hang-midway"] as const)(
    "%s is a transient failure",
    async (behaviour) => {
      const failure = await failing({ behaviour });
      expect(failure).toBeInstanceOf(TransientModelError);
      expect(failure.message).toContain("acme/gemini-2.5-flash");
    },
  );

  test("keeps the text up to the output limit; a safety stop without text is a permanent failure", async () => {
    expect((await answering({ text: "half of", finish: "length" })).text).toBe("half of");
    expect(await failing({ finish: "content-filter" })).toBeInstanceOf(PermanentModelError);
  });

  test("a wrong key is recognised, although Google answers 400", async () => {
    const wrongKey = await expectFailure(
      createTestModel(server, "google", { apiKey: "sk-wrong" }, "gemini-2.5-flash")(createModelRequest()),
    );
    expect(wrongKey).toBeInstanceOf(PermanentModelError);
    expect(wrongKey.message).toContain("acme refuses the API key");
  });

  test("distinguishes a bad request, a missing model and a busy server, whose retry delay is passed on", async () => {
    const bad = await failing({ status: 400, body: errorBody(400, `No: ${modelServerKey}`) });
    expect(bad).toEqual(new PermanentModelError("acme/gemini-2.5-flash refuses the request (400): No: [hidden]"));
    expect((await failing({ status: 404, body: errorBody(404, "none") })).message).toContain("has no model");
    const details = [
      { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "17s" },
    ];
    const busy = await failing({ status: 429, body: errorBody(429, "Slow down.", details) });
    expect(busy).toBeInstanceOf(TransientModelError);
    expect(busy).toMatchObject({ retryAfterMs: 17_000 });
  });

  test("an aborted call rejects at once, and the connection to the provider is closed", async () => {
    const startedAt = performance.now();
    const reply = answering({ behaviour: "hang-midway" }, { signal: AbortSignal.timeout(50) }, patient);
    await expect(reply).rejects.toThrow("aborted");
    expect(performance.now() - startedAt).toBeLessThan(5000);
    await expect.poll(() => server.calls.at(-1)?.clientClosed).toBe(true);
  });
});
