import { type Invocation, PerchError, RunCancelledError } from "@perch/sdk";
import type { Trace } from "../../../run-trace/trace.ts";
import { type ArrivedEvent, addEvent, endTrace, startTrace } from "../../../run-trace/trace-of-events.ts";

/** A message and its outcome. */
export interface Turn {
  readonly id: string;
  /** Not known until the server has accepted the message. */
  readonly runId: string | undefined;
  readonly session: string;
  readonly message: string;
  readonly status: "running" | "waiting" | "completed" | "failed" | "cancelled";
  /** The answer so far. */
  readonly answer: string;
  /** From the run's events; undefined for a run that ended before this page saw it, whose steps are read from the record. */
  readonly trace: Trace | undefined;
  /** The error that a call threw, or the reason why the recorded run failed. */
  readonly error: unknown;
  readonly tokens: number | null;
  readonly durationMs: number | null;
  readonly createdAt: string;
  /** The version that ran, if it is known: null is the draft. */
  readonly version: string | null | undefined;
  /** The run began before this page saw it, so its first events arrived later than they happened. */
  readonly isFollowed: boolean;
  /** The user asked to stop it. A run can still complete. */
  readonly isStopping: boolean;
  /** The problem that currently stops the page from following the run. */
  readonly trouble: string | undefined;
}

export const newTurn = (given: Pick<Turn, "id" | "session" | "message">, nowMs: number): Turn => ({
  ...given,
  runId: undefined,
  status: "running",
  answer: "",
  trace: startTrace(nowMs),
  error: undefined,
  tokens: null,
  durationMs: null,
  createdAt: new Date(nowMs).toISOString(),
  version: undefined,
  isFollowed: false,
  isStopping: false,
  trouble: undefined,
});

/** A run that another page started, or this page before a reload. A running one is followed from its first event. */
export const turnOfRun = (run: Invocation): Turn => ({
  id: run.request_id,
  runId: run.request_id,
  session: run.session_id ?? "",
  message: run.message,
  status: run.status,
  answer: run.response ?? "",
  trace: run.status === "running" ? startTrace(Date.parse(run.created_at)) : undefined,
  error: run.error ?? undefined,
  tokens: run.status === "running" ? null : run.tokens_used,
  durationMs: run.duration_ms,
  createdAt: run.created_at,
  version: run.version,
  isFollowed: true,
  isStopping: false,
  trouble: undefined,
});

function addToTurn(turn: Turn, arrived: ArrivedEvent): Turn {
  const trace = addEvent(turn.trace ?? startTrace(arrived.atMs), arrived);
  const status = turn.status === "waiting" ? "running" : turn.status;
  const followed = { ...turn, status, trace, answer: trace.text, trouble: undefined };
  const { event } = arrived;
  if (event.type === "action_required") return { ...followed, status: "waiting", runId: event.request_id };
  if (event.type !== "done") return followed;
  const { request_id: runId, tokens_used: tokens, duration_ms: durationMs } = event;
  return { ...followed, status: "completed", runId, tokens, durationMs };
}

export const addEvents = (turn: Turn, events: readonly ArrivedEvent[]): Turn => events.reduce(addToTurn, turn);

/** The user stopped a message that no server had accepted yet. */
export class StoppedUnsentError extends Error {}

/** The run was refused, failed or was cancelled, or cannot be followed any more. */
export function failTurn(turn: Turn, error: unknown, nowMs: number): Turn {
  if (turn.status !== "running") return turn;
  const isStopped = error instanceof RunCancelledError || error instanceof StoppedUnsentError;
  const status = isStopped ? "cancelled" : "failed";
  const trace = endTrace(turn.trace ?? startTrace(nowMs), status, nowMs);
  const runId = (error instanceof PerchError ? error.runId : undefined) ?? turn.runId;
  const { startedAtMs } = trace;
  return {
    ...turn,
    status,
    trace,
    runId,
    error,
    tokens: runId === undefined ? null : trace.tokens,
    durationMs: runId === undefined ? null : nowMs - startedAtMs,
    isStopping: false,
    trouble: undefined,
  };
}

/** The session's turns, oldest first: those of the record, and those of this page, which knows more about the same runs. */
export function joinTurns(recorded: readonly Turn[], own: readonly Turn[]): Turn[] {
  const known = new Set(own.map(({ runId }) => runId));
  return [...recorded.filter(({ runId }) => !known.has(runId)), ...own];
}

/** The turn of the other side at the same position, counted from the last, with the same message. */
export function counterpartOf(turns: readonly Turn[], index: number, others: readonly Turn[]): Turn | undefined {
  const other = others[others.length - (turns.length - index)];
  return other && other.message === turns[index]?.message ? other : undefined;
}
