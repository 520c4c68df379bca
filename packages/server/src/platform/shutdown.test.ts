import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { type ShutdownStep, shutDown } from "./shutdown.ts";

interface Line {
  readonly level: number;
  readonly step: string;
  readonly err?: { readonly message: string };
}

function createRecordingLogger() {
  const lines: Line[] = [];
  const logger = pino({ level: "debug" }, { write: (text: string) => void lines.push(JSON.parse(text)) });
  return { lines, logger, failures: () => lines.filter(({ level }) => level >= 50) };
}

const step = (name: string, run: ShutdownStep["run"], limitSeconds = 5): ShutdownStep => ({ name, limitSeconds, run });

describe("shutDown", () => {
  test("runs the steps in order, each after the one before is done", async () => {
    const { logger, failures } = createRecordingLogger();
    const seen: string[] = [];
    const slow = (name: string, ms: number) =>
      step(name, async () => {
        seen.push(`${name} begins`);
        await sleep(ms);
        seen.push(`${name} ends`);
      });
    expect(await shutDown([slow("first", 20), slow("second", 0)], logger)).toBe(true);
    expect(seen).toEqual(["first begins", "first ends", "second begins", "second ends"]);
    expect(failures()).toEqual([]);
  });

  test("nothing to do is a clean end", async () => {
    expect(await shutDown([], createRecordingLogger().logger)).toBe(true);
  });

  test("continues after a step that fails, one that throws at once and one that hangs, and reports each", async () => {
    const { logger, lines, failures } = createRecordingLogger();
    const reached: string[] = [];
    const broken = new Error("the pool is broken");
    const steps = [
      step("fails", () => Promise.reject(broken)),
      step("throws", () => {
        throw broken;
      }),
      step("hangs", () => new Promise<void>(() => undefined), 0.03),
      step("works", async () => void reached.push("works")),
    ];
    expect(await shutDown(steps, logger)).toBe(false);
    expect(reached).toEqual(["works"]);
    expect(failures().map(({ step, err }) => [step, err?.message])).toEqual([
      ["fails", "the pool is broken"],
      ["throws", "the pool is broken"],
      ["hangs", "not done after 0.03 s"],
    ]);
    expect(lines.map(({ step }) => step)).toEqual(["fails", "throws", "hangs", "works"]);
  });

  test("a step that fails after its limit is not an unhandled rejection", async () => {
    const { logger, failures } = createRecordingLogger();
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", onUnhandled);
    const late = step("late", () => sleep(40).then(() => Promise.reject(new Error("too late"))), 0.01);
    expect(await shutDown([late], logger)).toBe(false);
    await sleep(60);
    process.off("unhandledRejection", onUnhandled);
    expect(failures().map(({ err }) => err?.message)).toEqual(["not done after 0.01 s"]);
    expect(unhandled).toEqual([]);
  });

  test("a quick step leaves no timer behind that would hold the process", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    await shutDown([step("quick", async () => undefined, 3600)], createRecordingLogger().logger);
    expect(timers()).toBe(before);
  });
});
