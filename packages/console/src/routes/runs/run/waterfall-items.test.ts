import type { LogEntry } from "@perch/sdk";
import { expect, test } from "vitest";
import type { TraceStep } from "../../../run-trace/trace.ts";
import { logItems, percentAt, spanOf, ticksOf, waterfallItems } from "./waterfall-items.ts";

const step = (name: string, startedAtMs: number, more: Partial<TraceStep> = {}): TraceStep => ({
  key: `${name} ${startedAtMs}`,
  kind: "tool",
  step: 1,
  call: 1,
  name,
  attempt: 1,
  status: "completed",
  startedAtMs,
  durationMs: 10,
  waitMs: null,
  tokens: null,
  reason: null,
  input: null,
  output: null,
  ...more,
});

const line = (atMs: number, message: string, type?: string): LogEntry => ({
  id: `${atMs} ${message}`,
  timestamp: new Date(atMs).toISOString(),
  level: "info",
  message,
  metadata: { request_id: null, type },
});

const namesOf = (items: ReturnType<typeof waterfallItems>): string[] =>
  items.map((item) => (item.type === "step" ? `${item.step.name} ${item.step.attempt}` : item.entry.message));

test("attempts of a call stand together, although another call began between them", () => {
  const steps = [
    step("stock", 0, { status: "retried", waitMs: 50 }),
    step("price", 5, { call: 2 }),
    step("stock", 60, { attempt: 2 }),
  ];
  const items = waterfallItems(steps, [], 100);
  expect(namesOf(items)).toEqual(["stock 1", "stock 2", "price 1"]);
  expect(items[0]).toMatchObject({ span: { startMs: 0, endMs: 10 }, waitEndMs: 60, isFurtherAttempt: false });
  expect(items[1]).toMatchObject({ waitEndMs: null, isFurtherAttempt: true });
});

test("an interrupted attempt lasted until it began again, and one that is under way until now", () => {
  const items = waterfallItems(
    [step("a", 0, { status: "interrupted", durationMs: null }), step("a", 40, { status: "running", durationMs: null })],
    [],
    100,
  );
  expect(items.map((item) => item.type === "step" && item.span)).toEqual([
    { startMs: 0, endMs: 40 },
    { startMs: 40, endMs: 100 },
  ]);
});

test("log lines stand at their time, without those that repeat a step", () => {
  const logs = logItems([line(0, "before"), line(10, "call", "tool_call"), line(20, "mine"), line(90, "ended")]);
  expect(namesOf(waterfallItems([step("a", 10), step("b", 30)], logs, 0))).toEqual([
    "before",
    "a 1",
    "mine",
    "b 1",
    "ended",
  ]);
});

test("the line about the run's end is the last, also if a step began within the same millisecond", () => {
  const logs = logItems([line(10, "ended", "ended")]);
  expect(namesOf(waterfallItems([step("a", 10)], logs, 0))).toEqual(["a 1", "ended"]);
});

test("the picture has room for the whole run, every step and every wait", () => {
  const items = waterfallItems([step("a", -5), step("b", 90, { waitMs: 100, status: "retried" })], [], 0);
  expect(spanOf({ startMs: 0, endMs: 100 }, items)).toEqual({ startMs: -5, endMs: 200 });
  expect(percentAt({ startMs: 0, endMs: 200 }, 50)).toBe(25);
  expect(percentAt({ startMs: 0, endMs: 200 }, 900)).toBe(100);
});

test("an axis has round times, and no more of them than there is room for", () => {
  expect(ticksOf({ startMs: 0, endMs: 2400 }, 6)).toEqual([0, 500, 1000, 1500, 2000]);
  expect(ticksOf({ startMs: 0, endMs: 2400 }, 2)).toEqual([0, 2000]);
  for (const length of [1, 7, 99, 1234, 600_000])
    for (const max of [1, 2, 6])
      expect(ticksOf({ startMs: 0, endMs: length }, max).length).toBeLessThanOrEqual(max + 1);
});
