import { startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { echoModel } from "./echo-model.ts";
import { type ModelRequest, PermanentModelError } from "./model.ts";
import { createScriptModel } from "./script-model.ts";

const modelRequest = (instructions: string, change: Partial<ModelRequest> = {}): ModelRequest => ({
  requestId: "req_1",
  step: 1,
  messages: [{ role: "user", content: "hello" }],
  tools: [],
  temperature: null,
  instructions,
  maxOutputTokens: 100_000,
  onText: () => undefined,
  signal: AbortSignal.timeout(10_000),
  ...change,
});
const script = (...steps: object[]) => JSON.stringify({ steps });
const local = createScriptModel(undefined);

describe("perch/script", () => {
  test("plays one step for each model call, and repeats the last one", async () => {
    const instructions = script({ reply: "one" }, { reply: "two words" });
    const textAt = async (step: number) => (await local(modelRequest(instructions, { step }))).text;
    expect([await textAt(1), await textAt(2), await textAt(3)]).toEqual(["one", "two words", "two words"]);
    expect(await local(modelRequest(instructions, { step: 2 }))).toEqual({
      text: "two words",
      toolCalls: [],
      tokens: 2,
    });
  });

  test("fills in {message}, reports the given tokens, calls tools", async () => {
    const tool_calls = [{ name: "perch_echo", arguments: { a: 1 } }];
    expect(await local(modelRequest(script({ reply: "{message}, {message}!", tokens: 40, tool_calls })))).toEqual({
      text: "hello, hello!",
      tokens: 40,
      toolCalls: tool_calls.map((call) => ({ id: "call-1-1", ...call })),
    });
  });

  test("streams a reply word by word with word_delay_ms", async () => {
    const pieces: string[] = [];
    const reply = " one  two three\n";
    const startedAt = performance.now();
    await local(modelRequest(script({ reply, word_delay_ms: 20 }), { onText: (delta) => void pieces.push(delta) }));
    expect(pieces).toEqual([" one", "  two", " three", "\n"]);
    expect(performance.now() - startedAt).toBeGreaterThan(55);
    await local(modelRequest(script({ reply }), { onText: (delta) => void pieces.push(delta) }));
    expect(pieces.at(-1)).toBe(reply);
  });

  test("a very long reply is truncated without delay", async () => {
    const startedAt = performance.now();
    const instructions = script({ reply: "{message}".repeat(2000) });
    const messages = [{ role: "user" as const, content: "a b ".repeat(60_000) }];
    expect((await local(modelRequest(instructions, { messages }))).text).toHaveLength(2 ** 20);
    const spaces = [{ role: "user" as const, content: " ".repeat(250_000) }];
    await local(modelRequest(script({ reply: "{message}", word_delay_ms: 1 }), { messages: spaces }));
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  test("waits for delay_ms, and stops when aborted", async () => {
    const startedAt = performance.now();
    await local(modelRequest(script({ reply: "late", delay_ms: 60 })));
    expect(performance.now() - startedAt).toBeGreaterThan(55);
    const slow = local(modelRequest(script({ delay_ms: 60_000 }), { signal: AbortSignal.timeout(20) }));
    await expect(slow).rejects.toThrow("aborted");
  });

  test("fails permanently or transiently", async () => {
    const failure = (step: object) => local(modelRequest(script(step))).catch((error: unknown) => error);
    expect(await failure({ fail: "permanent", reply: "No." })).toEqual(new PermanentModelError("No."));
    expect(await failure({ fail: "permanent" })).toBeInstanceOf(PermanentModelError);
    const transient = await failure({ fail: "transient" });
    expect(transient).toBeInstanceOf(Error);
    expect(transient).not.toBeInstanceOf(PermanentModelError);
  });

  test.each(["", "Be kind.", "{}", '{"steps": []}', '{"steps": [{"replay": "x"}]}'])(
    "the invalid script %j is a permanent failure, with an example of a valid one",
    async (instructions) => {
      await expect(local(modelRequest(instructions))).rejects.toThrow(PermanentModelError);
      await expect(local(modelRequest(instructions))).rejects.toThrow('{"steps": [{"reply": "Hello"}]}');
    },
  );
});

describe("perch/script with a server", async () => {
  const server = await startScriptServer(({ step }) => (step === 9 ? { nonsense: true } : { reply: `step ${step}` }));
  afterAll(() => server.close());

  test("requests each step with the run's id and the messages so far", async () => {
    const remote = createScriptModel(server.url);
    expect((await remote(modelRequest("ignored", { step: 2 }))).text).toBe("step 2");
    expect(server.calls.at(-1)).toEqual({
      request_id: "req_1",
      step: 2,
      messages: [{ role: "user", content: "hello" }],
    });
  });

  test("an unavailable server or an invalid answer is a transient failure", async () => {
    const failures = [
      createScriptModel(server.url)(modelRequest("", { step: 9 })),
      createScriptModel("http://127.0.0.1:1")(modelRequest("")),
    ].map((reply) => reply.catch((error: unknown) => error));
    for (const failure of await Promise.all(failures)) {
      expect(failure).toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(PermanentModelError);
    }
  });
});

describe("perch/echo", () => {
  test("repeats the last user message, and counts the words of prompt and reply", async () => {
    const messages = [
      { role: "system", content: "Be kind." },
      { role: "user", content: "first" },
      { role: "user", content: "and then" },
    ] as const;
    expect(await echoModel(modelRequest("", { messages }))).toEqual({ text: "and then", toolCalls: [], tokens: 7 });
  });
});
