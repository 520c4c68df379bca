import type { RunStep } from "@perch/sdk";
import { keyOf, type Trace, type TraceStep } from "./trace.ts";

function toTraceStep(step: RunStep, earlier: readonly RunStep[]): TraceStep {
  const { kind, call, name, attempt, status, tokens, reason, asked, said } = step;
  return {
    key: keyOf(step, earlier),
    kind,
    step: step.step,
    call,
    name,
    attempt,
    status,
    startedAtMs: Date.parse(step.started_at),
    durationMs: step.duration_ms,
    waitMs: step.retry_after_ms,
    tokens,
    reason,
    asked,
    said,
  };
}

/** The text that a model said, live or from the record. Empty where nothing but its shape was kept. */
export function textOf(said: unknown): string {
  if (typeof said === "string") return said;
  const text = typeof said === "object" && said !== null && "text" in said ? said.text : undefined;
  return typeof text === "string" ? text : "";
}

const endOf = ({ startedAtMs, durationMs }: TraceStep): number => startedAtMs + (durationMs ?? 0);

/** The trace of a run that has ended, from the record of its steps. It is the same as the one from its events, with the server's times. */
export function traceOfSteps(recorded: readonly RunStep[]): Trace {
  const steps = recorded.map((step, index) => toTraceStep(step, recorded.slice(0, index)));
  const lastModel = steps.findLast(({ kind }) => kind === "model");
  return {
    steps,
    text: textOf(lastModel?.said),
    startedAtMs: steps.length === 0 ? 0 : Math.min(...steps.map(({ startedAtMs }) => startedAtMs)),
    endedAtMs: steps.length === 0 ? 0 : Math.max(...steps.map(endOf)),
    tokens: steps.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
    dropped: null,
  };
}
