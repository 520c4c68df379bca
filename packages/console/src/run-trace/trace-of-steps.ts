import type { RunStep } from "@perch/sdk";
import { keyOf, type Trace, type TraceStep } from "./trace.ts";

function toTraceStep(step: RunStep, earlier: readonly RunStep[]): TraceStep {
  const { kind, call, name, attempt, status, tokens, reason, input, output } = step;
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
    input,
    output,
  };
}

/** The text of a model, live or from the record. Empty if only its shape was stored. */
export function textOf(output: unknown): string {
  if (typeof output === "string") return output;
  const text = typeof output === "object" && output !== null && "text" in output ? output.text : undefined;
  return typeof text === "string" ? text : "";
}

const endOf = ({ startedAtMs, durationMs }: TraceStep): number => startedAtMs + (durationMs ?? 0);

/** The trace of a run that has ended, from the record of its steps. It equals the one from its events, with the server's times. */
export function traceOfSteps(recorded: readonly RunStep[]): Trace {
  const steps = recorded.map((step, index) => toTraceStep(step, recorded.slice(0, index)));
  const lastModel = steps.findLast(({ kind }) => kind === "model");
  return {
    steps,
    text: textOf(lastModel?.output),
    startedAtMs: steps.length === 0 ? 0 : Math.min(...steps.map(({ startedAtMs }) => startedAtMs)),
    endedAtMs: steps.length === 0 ? 0 : Math.max(...steps.map(endOf)),
    tokens: steps.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
    dropped: null,
  };
}
