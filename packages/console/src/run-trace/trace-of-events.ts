import type { RunStepEvent, RunStreamEvent, RunToken, RunTool } from "@perch/sdk";
import { isSameAttempt, keyOf, type Trace, type TraceStep } from "./trace.ts";

/** An event and when it arrived: events have no times of their own. */
export interface ArrivedEvent {
  readonly event: RunStreamEvent;
  readonly atMs: number;
}

export const startTrace = (startedAtMs: number): Trace => ({
  steps: [],
  text: "",
  startedAtMs,
  endedAtMs: null,
  tokens: 0,
  dropped: null,
});

const identityOf = (event: RunStepEvent | RunTool) => ({
  kind: event.type === "tool" ? ("tool" as const) : event.kind,
  step: event.step,
  call: event.type === "tool" ? event.call : null,
  name: event.name,
  attempt: event.attempt,
});

const replaceAt = (steps: readonly TraceStep[], index: number, change: Partial<TraceStep>): TraceStep[] =>
  steps.map((step, i) => (i === index ? { ...step, ...change } : step));

function begin(steps: readonly TraceStep[], event: RunStepEvent | RunTool, atMs: number): TraceStep[] {
  const identity = identityOf(event);
  const unfinished = steps.findLastIndex((step) => step.status === "running" && isSameAttempt(step, identity));
  // The attempt begins a second time without having ended, so its worker was lost.
  const before = unfinished < 0 ? steps : replaceAt(steps, unfinished, { status: "interrupted" });
  const begun: TraceStep = {
    ...identity,
    key: keyOf(identity, before),
    status: "running",
    startedAtMs: atMs,
    durationMs: null,
    waitMs: null,
    tokens: null,
    reason: null,
    input: event.type === "tool" ? (event.arguments ?? null) : null,
    output: null,
  };
  return [...before, begun];
}

function end(steps: readonly TraceStep[], event: RunStepEvent | RunTool, atMs: number): TraceStep[] {
  if (event.status === "started") return begin(steps, event, atMs);
  const identity = identityOf(event);
  const index = steps.findLastIndex((step) => step.status === "running" && isSameAttempt(step, identity));
  // The event of its beginning was dropped. The step is shown without a duration.
  if (index < 0) return end(begin(steps, event, atMs), event, Number.NaN);
  const ended = steps[index] as TraceStep;
  const durationMs = event.status === "interrupted" ? Number.NaN : atMs - ended.startedAtMs;
  return replaceAt(steps, index, {
    status: event.status,
    durationMs: Number.isNaN(durationMs) ? null : durationMs,
    waitMs: event.retry_after_ms ?? null,
    tokens: event.type === "step" ? (event.tokens ?? null) : null,
    reason: event.reason ?? null,
    output: event.type === "tool" ? (event.output ?? null) : ended.output,
  });
}

/** The text belongs to the attempt of the model call that is under way. */
function say(steps: readonly TraceStep[], token: RunToken): readonly TraceStep[] {
  const index = steps.findLastIndex(({ kind, step }) => kind === "model" && step === token.step);
  return index < 0 ? steps : replaceAt(steps, index, { output: token.snapshot });
}

/** Steps that were under way when the run ended have ended too. Their own last events may have been dropped. */
export function endTrace(trace: Trace, status: "completed" | "failed" | "cancelled", atMs: number): Trace {
  const steps = trace.steps.map((step) => (step.status === "running" ? { ...step, status } : step));
  return { ...trace, steps, endedAtMs: atMs };
}

export function addEvent(trace: Trace, { event, atMs }: ArrivedEvent): Trace {
  if (event.type === "token") return { ...trace, steps: say(trace.steps, event), text: event.snapshot };
  if (event.type === "action_required") return trace;
  if (event.type === "dropped") return { ...trace, dropped: event.message };
  if (event.type === "done")
    return { ...endTrace(trace, "completed", atMs), text: event.response, tokens: event.tokens_used };
  const tokens = trace.tokens + ((event.type === "step" && event.tokens) || 0);
  return { ...trace, steps: end(trace.steps, event, atMs), tokens };
}

/** The trace of a run from its events so far. Adding the later events one by one gives the same result. */
export const traceOfEvents = (events: readonly ArrivedEvent[], startedAtMs = events[0]?.atMs ?? 0): Trace =>
  events.reduce(addEvent, startTrace(startedAtMs));
