import type { Trace, TraceStep } from "./trace.ts";

/** How far a step has come: to its end, or until now. One that was interrupted lasted until the next step began. */
export function stepEndMs(step: TraceStep, trace: Trace, nowMs: number): number {
  if (step.durationMs !== null) return step.startedAtMs + step.durationMs;
  if (step.status === "running") return Math.max(nowMs, step.startedAtMs);
  const next = trace.steps.find(({ startedAtMs }) => startedAtMs > step.startedAtMs);
  return next?.startedAtMs ?? trace.endedAtMs ?? step.startedAtMs;
}

export interface Span {
  /** From 0 to 100. */
  readonly left: number;
  readonly width: number;
}

/** The position of a step on a line as long as the run, or as long as the run that it is compared with. */
export function spanOf(step: TraceStep, trace: Trace, nowMs: number, minLengthMs = 1): Span {
  const ends = trace.steps.map((each) => stepEndMs(each, trace, nowMs));
  const endMs = Math.max(trace.endedAtMs ?? nowMs, ...ends);
  const lengthMs = Math.max(minLengthMs, endMs - trace.startedAtMs);
  const left = ((step.startedAtMs - trace.startedAtMs) / lengthMs) * 100;
  const width = ((stepEndMs(step, trace, nowMs) - step.startedAtMs) / lengthMs) * 100;
  return { left: Math.min(99, Math.max(0, left)), width: Math.max(1, Math.min(width, 100 - left)) };
}
