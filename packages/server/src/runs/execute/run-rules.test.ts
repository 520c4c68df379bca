import { agentDefaults } from "@perch/contract";
import { describe, expect, test } from "vitest";
import type { RunInput } from "../../engine/messages.ts";
import { firstAttempt, initialProgress, type Progress, type Retry } from "../run.ts";
import {
  afterFailure,
  afterTools,
  backoffMs,
  conversationTooLarge,
  limitReached,
  messagesFor,
  modelsOf,
  toolLoopFound,
  toStorableReply,
} from "./run-rules.ts";

const { security, ...defaults } = agentDefaults;
const limits = { ...defaults.limits, max_steps: 3, max_tokens: 100, timeout_seconds: 30 };

const run = (change: Partial<RunInput["definition"]> = {}): RunInput => ({
  id: "id",
  acceptedAtMs: 1000,
  organisationId: "organisation",
  agentId: "agent",
  environment: "production",
  version: null,
  deploymentId: null,
  trial: null,
  definition: { ...defaults, runtime: { type: "model" }, model: "perch/echo", limits, ...change },
  message: "hello",
  userId: null,
  sessionId: null,
  streamed: false,
  trace: null,
});
const session = { turn: 1, history: [] };
const start = initialProgress(1000, session);
const at = (change: Partial<Progress>): Progress => ({ ...start, ...change });

describe("limitReached", () => {
  test("allows a run its first and its last step, its last token and its last millisecond", () => {
    expect(limitReached(run(), start, 30_000)).toBeUndefined();
    expect(limitReached(run(), at({ step: 3, tokensUsed: 99 }), 1)).toBeUndefined();
  });

  test.each([
    ["timeout_seconds", at({}), 0, true],
    ["timeout_seconds", at({}), -1, true],
    ["max_steps", at({ step: 4 }), 1, false],
    ["max_tokens", at({ tokensUsed: 100 }), 1, false],
  ])(
    "names limits.%s, and reports that only more time may help without a change",
    (limit, progress, remainingMs, retryable) => {
      const message = expect.stringContaining(`(limits.${limit})`);
      expect(limitReached(run(), progress, remainingMs)).toEqual({ message, code: "run_failed", retryable });
    },
  );
});

describe("messagesFor", () => {
  test("instructions, then the history, then the message, then the messages of this run", () => {
    const history = [{ role: "user", content: "before" }] as const;
    const messages = [{ role: "tool", callId: "1", name: "t", content: "{}" }] as const;
    expect(messagesFor(run({ instructions: "Be kind." }), at({ session: { turn: 2, history }, messages }))).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: "before" },
      { role: "user", content: "hello" },
      ...messages,
    ]);
  });

  test("no system message without instructions", () => {
    expect(messagesFor(run(), start)).toEqual([{ role: "user", content: "hello" }]);
  });
});

const call = (id: string, name = "search", input: unknown = { a: 1 }) => ({ id, name, arguments: input });
const reply = (...toolCalls: ReturnType<typeof call>[]) => ({ text: "thinking", tokens: 7, toolCalls });

describe("afterTools", () => {
  test("counts the step and its tokens, and keeps when the run began and its session", () => {
    const next = afterTools(
      at({ step: 2, tokensUsed: 5 }),
      reply(call("1")),
      [{ content: "found", failed: false }],
      [],
    );
    expect(next).toMatchObject({ step: 3, tokensUsed: 12, startedAtMs: 1000, session });
  });

  test("returns the result of each call with its id, in order", () => {
    const calls = [call("1"), call("2", "other")];
    const results = [
      { content: "found", failed: false },
      { content: "The tool failed: 503", failed: true },
    ];
    const first = afterTools(start, reply(...calls), results, []);
    expect(first.messages).toEqual([
      { role: "assistant", content: "thinking", toolCalls: calls },
      { role: "tool", callId: "1", name: "search", content: "found", failed: false },
      { role: "tool", callId: "2", name: "other", content: "The tool failed: 503", failed: true },
    ]);
    expect(afterTools(first, reply(call("3")), results, []).messages).toHaveLength(5);
  });
});

describe("storable", () => {
  test("is text that a database can hold, and a count that fits its column", () => {
    expect(toStorableReply({ text: "a\0b\ud800", toolCalls: [], tokens: 1e12 })).toEqual({
      text: "ab\ufffd",
      toolCalls: [],
      tokens: 2_000_000_000,
    });
    expect(toStorableReply({ text: "", toolCalls: [], tokens: -3.2 }).tokens).toBe(0);
    expect(toStorableReply({ text: "", toolCalls: [], tokens: Number.NaN }).tokens).toBe(0);
  });

  test("the arguments of a call are storable at every depth, and so is what the provider wants to see again", () => {
    const odd = { ...call("1", "search", { "a\0": ["\ud83d"] }), providerMetadata: { google: { signature: "b\0" } } };
    const [stored] = toStorableReply(reply(odd)).toolCalls;
    expect(stored?.arguments).toEqual({ a: ["\ufffd"] });
    expect(stored?.providerMetadata).toEqual({ google: { signature: "b" } });
    const deep: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    expect(JSON.stringify(toStorableReply(reply(call("1", "search", deep))).toolCalls[0]).length).toBeLessThan(300);
  });

  test("a text is cut at 1 MiB; calls beyond 32 and arguments beyond 256 KiB are not made", () => {
    expect(toStorableReply({ text: "x".repeat(2 ** 21), toolCalls: [], tokens: 0 }).text).toHaveLength(2 ** 20);
    const many = Array.from({ length: 40 }, (_, i) => call(String(i)));
    expect(toStorableReply(reply(...many)).toolCalls).toHaveLength(32);
    const [large] = toStorableReply(reply(call("1", "search", { a: "x".repeat(2 ** 19) }))).toolCalls;
    expect(large?.arguments).toBe("[arguments larger than 256 KiB]");
    const [odd] = toStorableReply(reply(call("1", `a\0b${"x".repeat(200)}`))).toolCalls;
    expect(odd?.name).toBe(`ab${"x".repeat(125)}`);
    const huge = {
      ...call("x".repeat(2 ** 20)),
      providerMetadata: { google: { thoughtSignature: "y".repeat(2 ** 20) } },
    };
    const [small] = toStorableReply(reply(huge)).toolCalls;
    expect(JSON.stringify(small).length).toBeLessThan(300);
  });
});

test("a conversation may grow to 8 MiB, and no further", () => {
  const long = { role: "assistant", content: "x".repeat(2 ** 20) } as const;
  expect(conversationTooLarge(at({ messages: Array.from({ length: 7 }, () => long) }), reply())).toBeUndefined();
  expect(conversationTooLarge(at({ messages: Array.from({ length: 8 }, () => long) }), reply())).toMatchObject({
    message: expect.stringContaining("8 MiB"),
    retryable: false,
  });
});

describe("loopFound", () => {
  const after = (times: number, input = (i: number): unknown => ({ b: 1, a: i })) =>
    Array.from({ length: times }, (_, i) => reply(call(String(i), "search", input(i)))).reduce(
      (progress, one) => afterTools(progress, one, [], []),
      start,
    );

  test("stops at the fifth call of one tool with the same arguments, in whatever order they are written", () => {
    const same = () => ({ b: 1, a: 1 });
    expect(toolLoopFound(after(3, same), [call("x", "search", { a: 1, b: 1 })])).toBeUndefined();
    expect(toolLoopFound(after(4, same), [call("x", "search", { a: 1, b: 1 })])).toMatchObject({
      message: expect.stringContaining("search 5 times"),
      retryable: false,
    });
  });

  test("does not stop a run whose calls differ", () => {
    expect(toolLoopFound(after(30), [call("x", "search", { a: 31 })])).toBeUndefined();
  });
});

describe("afterFailure", () => {
  const times = { startedAtMs: 5000, failedAtMs: 5100 };
  const transient = { message: "busy.", transient: true, ...times };
  const permanent = { message: "no.", transient: false, ...times };
  const alone = run();
  const three = run({ fallback_models: ["b/b", "c/c"] });
  const next = (...[of, attempt, failure, remainingMs = 60_000]: [RunInput, Retry["retry"], object, number?]) =>
    afterFailure(of, attempt, failure as typeof transient, remainingMs, 0.5);

  /** Fails for as long as there is a retry, each time after `tryMs`. Returns the waits, and how it ended. */
  function giveUp(of: RunInput, { tryMs = 0, timeoutMs = 900_000, random = 0.5 } = {}) {
    const waits: number[] = [];
    let attempt = firstAttempt;
    for (let atMs = 0; ; ) {
      const failure = {
        message: "gone.",
        transient: true,
        isUnreachable: true,
        advice: "Start it.",
        startedAtMs: atMs,
      };
      atMs += tryMs;
      const after = afterFailure(of, attempt, { ...failure, failedAtMs: atMs }, timeoutMs - atMs, random);
      if ("failed" in after) return { waits, atMs, message: after.failed.message, failed: after.failed };
      waits.push(after.afterMs);
      atMs += after.afterMs;
      attempt = after.retry;
    }
  }

  test("an unreachable server is tried for about eight seconds, whatever time the run has, and the error says so", () => {
    const { waits, message, failed } = giveUp(alone);
    expect(waits).toEqual([250, 500, 1000, 2000, 4000]);
    expect(message).toBe("gone. Tried 6 times in 8 s. Start it.");
    expect(failed).toMatchObject({ code: "run_failed", retryable: true });
    for (const random of [0, 1]) expect(giveUp(alone, { random }).waits).toHaveLength(5);
  });

  test("what takes long not to be reached is tried less often, for the same time", () => {
    const { waits, atMs, message } = giveUp(alone, { tryMs: 4000 });
    expect(waits).toEqual([250, 500]);
    expect(atMs).toBeLessThan(13_000);
    expect(message).toBe("gone. Tried 3 times in 13 s. Start it.");
  });

  test("the run's time still counts for what cannot be reached", () => {
    const { message, atMs } = giveUp(alone, { timeoutMs: 1000 });
    expect(atMs).toBe(750);
    expect(message).toBe(
      "gone. Tried 3 times in 1 s. Start it. The run had no time left to try again (limits.timeout_seconds).",
    );
  });

  test("a model that cannot be reached gives way to its fallback after three tries", () => {
    const { waits, message } = giveUp(run({ fallback_models: ["b/b"] }));
    expect(waits).toEqual([250, 500, 0, 250, 500, 1000, 2000, 4000]);
    expect(message).toBe("gone. Tried 3 times in 1 s. Start it. Then: gone. Tried 6 times in 8 s. Start it.");
  });

  test("an answer in between begins the time anew, and other failures are retried for as long as before", () => {
    const late = { ...firstAttempt, tries: 40, unreachable: { tries: 5, sinceMs: 0 } };
    const unreachable = { ...transient, isUnreachable: true };
    expect(next(alone, late, { ...unreachable, startedAtMs: 9000, failedAtMs: 9000 })).toHaveProperty("failed");
    const after = next(alone, late, { ...transient, startedAtMs: 9000, failedAtMs: 9000 }) as Retry;
    expect(after.retry.unreachable).toBeUndefined();
    expect(next(alone, after.retry, { ...unreachable, startedAtMs: 19_000, failedAtMs: 19_000 })).toMatchObject({
      afterMs: 250,
      retry: { unreachable: { tries: 1, sinceMs: 19_000 } },
    });
  });

  test("retries a transient failure with growing delays while the run has time", () => {
    expect(next(alone, firstAttempt, transient)).toEqual({
      retry: { model: 0, tries: 2, failures: ["busy."], retryable: true, log: [] },
      afterMs: 250,
    });
    expect(next(alone, { ...firstAttempt, tries: 30 }, transient)).toMatchObject({ afterMs: 10_000 });
    const message = "busy. The run had no time left to try again (limits.timeout_seconds).";
    expect(next(alone, firstAttempt, transient, 200)).toEqual({
      failed: { message, code: "run_failed", retryable: true },
    });
  });

  test("waits as long as the provider asks for, if that is within the run's time", () => {
    expect(next(alone, firstAttempt, { ...transient, retryAfterMs: 20_000 })).toMatchObject({ afterMs: 20_000 });
    expect(next(alone, firstAttempt, { ...transient, retryAfterMs: 90_000 })).toHaveProperty("failed");
  });

  test("uses the fallbacks in order: after three attempts, or at once if a retry is useless or too late", () => {
    const fallback = { retry: { model: 1, tries: 1, failures: ["busy."], retryable: true, log: [] }, afterMs: 0 };
    expect(next(three, { ...firstAttempt, tries: 2 }, transient)).toMatchObject({ retry: { model: 0, tries: 3 } });
    expect(next(three, { ...firstAttempt, tries: 3 }, transient)).toEqual(fallback);
    expect(next(three, firstAttempt, { ...transient, retryAfterMs: 20_000 })).toEqual(fallback);
    expect(next(three, firstAttempt, permanent)).toMatchObject({ retry: { model: 1, failures: ["no."] } });
    expect(next(three, { model: 1, tries: 1, failures: ["no."], log: [] }, permanent)).toMatchObject({
      retry: { model: 2 },
    });
  });

  test("the failure of the last model ends the run, and the error lists all failures", () => {
    const last = { model: 2, tries: 4, failures: ["first.", "second.", "third, before."], log: [] };
    const message = "first. Then: second. Then: no.";
    expect(next(three, last, permanent)).toEqual({ failed: { message, code: "run_failed", retryable: false } });
  });

  test("a new run can help if any of the models may answer later, and not if all refused for good", () => {
    const last = { model: 2, tries: 1, failures: ["busy.", "no."], log: [] };
    expect(next(three, { ...last, retryable: true }, permanent)).toMatchObject({ failed: { retryable: true } });
    expect(next(three, last, permanent)).toMatchObject({ failed: { retryable: false } });
    const after = next(three, { ...firstAttempt, tries: 3 }, transient);
    const second = next(three, (after as Retry).retry, permanent);
    expect(next(three, (second as Retry).retry, permanent)).toMatchObject({ failed: { retryable: true } });
  });

  test("runs that failed together do not retry at the same moment", () => {
    expect(backoffMs(1, 0)).toBe(200);
    expect(backoffMs(1, 1)).toBe(300);
  });

  test("a remote agent has no fallback", () => {
    const remote = run({ runtime: { type: "http", url: "https://a.example/x" }, fallback_models: ["b/b"] });
    expect(modelsOf(remote)).toEqual(["https://a.example/x"]);
    expect(modelsOf(three)).toEqual(["perch/echo", "b/b", "c/c"]);
  });
});
