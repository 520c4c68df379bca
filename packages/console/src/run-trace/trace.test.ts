import type { RunStep, RunStreamEvent } from "@perch/sdk";
import { describe, expect, test } from "vitest";
import { callCount } from "./trace.ts";
import { addEvent, endTrace, startTrace, traceOfEvents } from "./trace-of-events.ts";
import { traceOfSteps } from "./trace-of-steps.ts";
import { spanOf } from "./trace-times.ts";

const model = { type: "step", kind: "model", step: 1, name: "perch/script", attempt: 1 } as const;
const stock = { type: "tool", step: 1, call: 1, name: "stock", attempt: 1 } as const;
const order = { type: "tool", step: 1, call: 2, name: "order", attempt: 1 } as const;
const lost = "The worker was lost.";

/** One event every 10 ms. */
const arrived = (events: readonly RunStreamEvent[]) => events.map((event, index) => ({ event, atMs: index * 10 }));

const events: RunStreamEvent[] = [
  { ...model, status: "started" },
  { type: "token", step: 1, offset: 0, text: "Let me ", snapshot: "Let me " },
  { type: "token", step: 1, offset: 7, text: "look.", snapshot: "Let me look." },
  { ...model, status: "completed", tokens: 3 },
  { ...stock, status: "started", arguments: { sku: "jasmine" } },
  { ...order, status: "started", arguments: { packets: 2 } },
  { ...stock, status: "retried", reason: "The tool answered 503.", retry_after_ms: 250 },
  { ...order, status: "interrupted", reason: lost },
  { ...order, status: "started", arguments: { packets: 2 } },
  { ...stock, attempt: 2, status: "started", arguments: { sku: "jasmine" } },
  { ...stock, attempt: 2, status: "completed", output: "12 packets" },
  { ...order, status: "completed", output: "ordered" },
  { ...model, step: 2, status: "started" },
  { type: "token", step: 2, offset: 0, text: "Ordered.", snapshot: "Ordered." },
  { ...model, step: 2, status: "completed", tokens: 1 },
  { type: "done", response: "Ordered.", request_id: "req_1", tokens_used: 4, duration_ms: 150 },
];

describe("traceOfEvents", () => {
  test("has every attempt in the order of their beginnings, with durations, waits, reasons and contents", () => {
    const { steps, ...trace } = traceOfEvents(arrived(events));
    expect(steps.map(({ name, attempt, status, durationMs }) => [name, attempt, status, durationMs])).toEqual([
      ["perch/script", 1, "completed", 30],
      ["stock", 1, "retried", 20],
      ["order", 1, "interrupted", null],
      ["order", 1, "completed", 30],
      ["stock", 2, "completed", 10],
      ["perch/script", 1, "completed", 20],
    ]);
    expect(steps[0]).toMatchObject({ kind: "model", step: 1, call: null, tokens: 3, output: "Let me look." });
    expect(steps[1]).toMatchObject({ waitMs: 250, reason: "The tool answered 503.", input: { sku: "jasmine" } });
    expect(steps[2]).toMatchObject({ reason: lost });
    expect(steps[3]).toMatchObject({ kind: "tool", call: 2, input: { packets: 2 }, output: "ordered" });
    expect(new Set(steps.map(({ key }) => key)).size).toBe(6);
    expect(trace).toEqual({ text: "Ordered.", startedAtMs: 0, endedAtMs: 150, tokens: 4, dropped: null });
  });

  test("counts a call once, however often it was attempted", () => {
    expect(callCount(traceOfEvents(arrived(events)))).toBe(4);
  });

  test("adding events one by one gives the same as all at once, after any number of them", () => {
    let trace = startTrace(0);
    for (const [index, event] of arrived(events).entries()) {
      trace = addEvent(trace, event);
      expect(trace).toEqual(traceOfEvents(arrived(events.slice(0, index + 1))));
    }
  });

  test("an attempt that begins twice without having ended was interrupted, even if the event about it is missing", () => {
    const trace = traceOfEvents(arrived([0, 1].map(() => ({ ...model, status: "started" }))));
    expect(trace.steps.map(({ status }) => status)).toEqual(["interrupted", "running"]);
  });

  test("a step whose beginning was dropped is shown without a duration, and the reason for gaps is kept", () => {
    const trace = traceOfEvents(
      arrived([
        { type: "dropped", message: "Too much is kept." },
        { ...stock, status: "failed", reason: "404" },
      ]),
    );
    expect(trace.steps).toMatchObject([{ status: "failed", reason: "404", durationMs: null }]);
    expect(trace.dropped).toBe("Too much is kept.");
  });

  test("a text that a later attempt replaces belongs only to that attempt", () => {
    const trace = traceOfEvents(
      arrived([
        { ...model, status: "started" },
        { type: "token", step: 1, offset: 0, text: "Hel", snapshot: "Hel" },
        { ...model, status: "retried", reason: "Cut off.", retry_after_ms: 10 },
        { ...model, attempt: 2, status: "started" },
        { type: "token", step: 1, offset: 0, text: "Good day", snapshot: "Good day" },
      ]),
    );
    expect(trace.steps.map(({ output }) => output)).toEqual(["Hel", "Good day"]);
    expect(trace.text).toBe("Good day");
  });

  test("no step goes on running after the run was cancelled or has failed", () => {
    const running = traceOfEvents(arrived([{ ...model, status: "started" }]));
    for (const status of ["cancelled", "failed"] as const)
      expect(endTrace(running, status, 90)).toMatchObject({ endedAtMs: 90, steps: [{ status }] });
  });
});

describe("traceOfSteps", () => {
  const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
  const base = { kind: "model", call: null, attempt: 1, tokens: null, reason: null, retry_after_ms: null } as const;
  const recorded: RunStep[] = [
    {
      ...base,
      number: 1,
      step: 1,
      name: "perch/script",
      status: "completed",
      started_at: at(0),
      duration_ms: 30,
      tokens: 3,
      input: { message: "Tea?" },
      output: { text: "Let me look.", tool_calls: [] },
    },
    {
      ...base,
      number: 2,
      kind: "tool",
      step: 1,
      call: 1,
      name: "stock",
      status: "retried",
      started_at: at(40),
      duration_ms: 20,
      reason: "503",
      retry_after_ms: 250,
      input: null,
      output: null,
    },
    {
      ...base,
      number: 3,
      kind: "tool",
      step: 1,
      call: 2,
      name: "order",
      status: "interrupted",
      started_at: at(50),
      duration_ms: null,
      reason: lost,
      input: null,
      output: null,
    },
    {
      ...base,
      number: 4,
      kind: "tool",
      step: 1,
      call: 2,
      name: "order",
      status: "completed",
      started_at: at(80),
      duration_ms: 30,
      input: null,
      output: null,
    },
    {
      ...base,
      number: 5,
      kind: "tool",
      step: 1,
      call: 1,
      name: "stock",
      attempt: 2,
      status: "completed",
      started_at: at(90),
      duration_ms: 10,
      input: null,
      output: null,
    },
    {
      ...base,
      number: 6,
      step: 2,
      name: "perch/script",
      status: "completed",
      started_at: at(120),
      duration_ms: 20,
      tokens: 1,
      input: null,
      output: { text: "Ordered." },
    },
  ];

  test("draws a run as its events did: the same keys, states, durations and waits", () => {
    const drawn = (trace: ReturnType<typeof traceOfSteps>) =>
      trace.steps.map(({ key, status, durationMs, startedAtMs }) => [
        key,
        status,
        durationMs,
        startedAtMs - trace.startedAtMs,
      ]);
    expect(drawn(traceOfSteps(recorded))).toEqual(drawn(traceOfEvents(arrived(events))));
    expect(traceOfSteps(recorded)).toMatchObject({ text: "Ordered.", tokens: 4, endedAtMs: Date.parse(at(140)) });
  });

  test("a run without steps has an empty trace", () => {
    expect(traceOfSteps([])).toMatchObject({ steps: [], text: "", tokens: 0 });
  });
});

describe("spanOf", () => {
  const trace = traceOfEvents(arrived(events));
  const spans = (nowMs: number, minLengthMs?: number) =>
    trace.steps.map((step) => spanOf(step, trace, nowMs, minLengthMs));

  test("draws steps to scale, within the line; one that was interrupted lasts until the next begins", () => {
    expect(spans(150).map(({ left, width }) => [Math.round(left * 1.5), Math.round(width * 1.5)])).toEqual([
      [0, 30],
      [40, 20],
      [50, 30],
      [80, 30],
      [90, 10],
      [120, 20],
    ]);
    for (const { left, width } of spans(150)) expect(left + width).toBeLessThanOrEqual(100);
  });

  test("has the scale of a longer run that it is compared with", () => {
    expect(spans(150, 300)[0]).toEqual({ left: 0, width: 10 });
  });

  test("a step that runs reaches until now", () => {
    const running = traceOfEvents(arrived(events.slice(0, 2)));
    expect(running.steps.map((step) => spanOf(step, running, 500))).toEqual([{ left: 0, width: 100 }]);
  });
});
