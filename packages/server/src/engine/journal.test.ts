import { describe, expect, test } from "vitest";
import { input, output, sleepCompleted, sleeping, start, step, stepResult } from "../../test/support/engine-frames.ts";
import { JournalReader } from "./journal.ts";

const begin = input({ message: "hello" });

const read = (...chunks: Buffer[]): JournalReader => {
  const reader = new JournalReader();
  for (const chunk of chunks) reader.read(chunk);
  return reader;
};

describe("the journal of an invocation", () => {
  test("has no step and no output at its first attempt, and is complete with the start message", () => {
    const journal = read(start(1));
    expect(journal.isComplete).toBe(true);
    expect(journal.hasStep("model 1")).toBe(false);
    expect(journal.output).toBeUndefined();
  });

  test("has the steps that an earlier attempt journaled, finished or not, and its output", () => {
    const long = { status: "completed", response: "ü".repeat(5000) };
    const journal = read(start(5), begin, step("begin"), stepResult, step("model 1 try 2"), output(long));
    expect(journal.isComplete).toBe(true);
    expect(["begin", "model 1", "model 1 try 2"].map((name) => journal.hasStep(name))).toEqual([true, false, true]);
    expect(journal.output).toEqual(long);
  });

  test("reports the first step of an attempt that follows a lost one, and no later step", () => {
    const journal = read(start(1, 2));
    expect(["model 1", "model 2"].map((name) => journal.isRepeat(name))).toEqual([true, false]);
    for (const first of [read(start(1)), read(start(1, 0))]) expect(first.isRepeat("model 1")).toBe(false);
  });

  test("reports every step that was begun and has no result", () => {
    const journal = read(start(5, 1), begin, step("model 1"), stepResult, step("tool 1.1 a"), step("tool 1.2 b"));
    expect(["tool 1.1 a", "tool 1.2 b", "model 2"].map((name) => journal.isRepeat(name))).toEqual([true, true, false]);
  });

  test("reports no step if the worker was lost while the run slept", () => {
    const before = [begin, step("model 1"), stepResult, sleeping];
    expect(read(start(4, 1), ...before).isRepeat("model 1 try 2")).toBe(false);
    expect(read(start(5, 1), ...before, sleepCompleted).isRepeat("model 1 try 2")).toBe(true);
  });

  test("is read from any pieces, and what follows it is not part of it", () => {
    const bytes = Buffer.concat([start(3), begin, step("begin"), stepResult, step("later")]);
    for (const size of [1, 7, 8, 9, 50]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const journal = read(...pieces);
      expect(journal.hasStep("begin")).toBe(true);
      expect(journal.hasStep("later")).toBe(false);
    }
  });

  test("must begin with the number of its entries", () => {
    expect(() => read(begin)).toThrow("did not begin with the number of journal entries");
  });
});
