export type TraceKind = "model" | "tool" | "tools" | "memory";

/**
 * `retried`: the attempt failed, and another follows after `waitMs`. `interrupted`: its worker was lost, and the same attempt began again.
 * `cancelled`: it was under way when the run was cancelled.
 */
export type TraceStatus = "running" | "completed" | "failed" | "retried" | "interrupted" | "cancelled";

/** One attempt of one model call, tool call, listing of tools or recall of memories. */
export interface TraceStep {
  /** Unique within the trace, and the same for a step whether it came as an event or from the record. */
  readonly key: string;
  readonly kind: TraceKind;
  /** Number of the model call that this is or belongs to. 0: before the first. */
  readonly step: number;
  /** Number of the tool call within its step. */
  readonly call: number | null;
  readonly name: string;
  readonly attempt: number;
  readonly status: TraceStatus;
  readonly startedAtMs: number;
  /** Null while it runs, if it was interrupted, and if its beginning was not seen. */
  readonly durationMs: number | null;
  /** With `retried`: how long the run waits before the next attempt. */
  readonly waitMs: number | null;
  readonly tokens: number | null;
  readonly reason: string | null;
  /** The input: a tool's arguments, or the model's new messages. Null if it is not known. */
  readonly input: unknown;
  /** The output. For a model: its text so far, or `{text, tool_calls}` from the record. */
  readonly output: unknown;
}

export interface Trace {
  readonly steps: readonly TraceStep[];
  /** The text of the last model call so far. At the end of a completed run, this is its response. */
  readonly text: string;
  readonly startedAtMs: number;
  /** Null while the run goes on. */
  readonly endedAtMs: number | null;
  /** Tokens of the models that have answered. */
  readonly tokens: number;
  /** Why steps are missing; null if none are. */
  readonly dropped: string | null;
}

/** The calls of a trace, each counted once however often it was attempted. */
export const callCount = ({ steps }: Pick<Trace, "steps">): number =>
  new Set(steps.map(({ kind, step, call, name }) => `${kind} ${step}.${call ?? 0} ${name}`)).size;

type Identity = Pick<TraceStep, "kind" | "step" | "call" | "name" | "attempt">;

export const isSameAttempt = (one: Identity, other: Identity): boolean =>
  one.kind === other.kind &&
  one.step === other.step &&
  one.call === other.call &&
  one.name === other.name &&
  one.attempt === other.attempt;

/** An attempt that was interrupted begins again under the same number, so the key also counts how often it began. */
export function keyOf(identity: Identity, earlier: readonly Identity[]): string {
  const { kind, step, call, name, attempt } = identity;
  const began = 1 + earlier.filter((other) => isSameAttempt(other, identity)).length;
  return `${kind} ${step}.${call ?? 0} ${name} ${attempt}.${began}`;
}
