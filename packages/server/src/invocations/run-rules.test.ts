import { agentDefaults } from "@perch/contract";
import { describe, expect, test } from "vitest";
import { beginning, type Progress, type RunInput } from "./run.ts";
import { afterReply, limitReached, messagesFor } from "./run-rules.ts";

const { security, ...defaults } = agentDefaults;
const limits = { ...defaults.limits, max_steps: 3, max_tokens: 100, timeout_seconds: 30 };

const run = (change: Partial<RunInput["definition"]> = {}): RunInput => ({
  id: "id",
  acceptedAtMs: 1000,
  organisationId: "organisation",
  agentId: "agent",
  environment: "production",
  definition: { ...defaults, runtime: { type: "model" }, model: "perch/echo", limits, ...change },
  message: "hello",
  userId: null,
  sessionId: null,
});
const session = { turn: 1, history: [] };
const start = beginning(1000, session);
const at = (change: Partial<Progress>): Progress => ({ ...start, ...change });

describe("limitReached", () => {
  test("lets a run take its first step, its last one, and spend its last token and millisecond", () => {
    expect(limitReached(run(), start, 30_000)).toBeUndefined();
    expect(limitReached(run(), at({ step: 3, tokensUsed: 99 }), 1)).toBeUndefined();
  });

  test.each([
    ["timeout_seconds", at({}), 0],
    ["timeout_seconds", at({}), -1],
    ["max_steps", at({ step: 4 }), 1],
    ["max_tokens", at({ tokensUsed: 100 }), 1],
  ])("names limits.%s", (limit, progress, remainingMs) => {
    expect(limitReached(run(), progress, remainingMs)).toContain(`(limits.${limit})`);
  });
});

describe("messagesFor", () => {
  test("instructions, then the history, then the message, then what was said in this run", () => {
    const history = [{ role: "user", content: "before" }] as const;
    const said = [{ role: "tool", content: "{}" }] as const;
    expect(messagesFor(run({ instructions: "Be kind." }), at({ session: { turn: 2, history }, said }))).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: "before" },
      { role: "user", content: "hello" },
      { role: "tool", content: "{}" },
    ]);
  });

  test("no system message where there are no instructions", () => {
    expect(messagesFor(run(), start)).toEqual([{ role: "user", content: "hello" }]);
  });
});

describe("afterReply", () => {
  const reply = (...names: string[]) => ({
    text: "thinking",
    tokens: 7,
    toolCalls: names.map((name) => ({ name, arguments: { a: 1 } })),
  });

  test("counts the step and its tokens, and keeps when the run began and its session", () => {
    const next = afterReply(at({ step: 2, tokensUsed: 5 }), reply("perch_echo"));
    expect(next).toMatchObject({ step: 3, tokensUsed: 12, startedAtMs: 1000, session });
  });

  test("gives each tool's result back, in order; an unknown tool is refused by name", () => {
    const first = afterReply(start, reply("perch_echo", "rm_rf"));
    expect(first.said).toEqual([
      { role: "assistant", content: "thinking" },
      { role: "tool", content: '{"a":1}' },
      { role: "tool", content: "There is no tool rm_rf." },
    ]);
    expect(afterReply(first, reply("perch_echo")).said).toHaveLength(5);
  });
});
