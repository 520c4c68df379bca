import type { FailureCode, RunResult } from "../engine/messages.ts";
import type { ModelMessage, ModelReply, ToolCall } from "../outbound/models/model.ts";
import type { RunTool, ToolResult } from "../outbound/tools/tool.ts";
import type { Recalled } from "../resources/memory/memory-rules.ts";

/** One line of a run's log, as it is journaled and then recorded with the run. */
export interface LogLine {
  readonly at: string;
  readonly level: number;
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The earlier messages of the session, and which turn this is. */
export interface Session {
  readonly turn: number;
  readonly history: readonly ModelMessage[];
}

/** The state of a run between two steps. All of it comes from journaled results, so a replay sees the same. */
export interface Progress {
  readonly step: number;
  readonly startedAtMs: number;
  readonly session: Session;
  /** Memories that fit the message. */
  readonly recalled: readonly Recalled[];
  readonly messages: readonly ModelMessage[];
  /** Names of the tools that the model is offered. */
  readonly toolNames?: readonly string[];
  readonly tokensUsed: number;
  readonly costMicros: number;
  readonly log: readonly LogLine[];
}

export const initialProgress = (startedAtMs: number, session: Session): Progress => ({
  step: 1,
  startedAtMs,
  session,
  recalled: [],
  messages: [],
  tokensUsed: 0,
  costMicros: 0,
  log: [],
});

/** Why a run failed, in words for its user. `retryable`: a new run of the same message can succeed without a change to the agent. */
export interface RunFailure {
  readonly message: string;
  readonly code: FailureCode;
  readonly retryable: boolean;
}

/** Which try this is, of which of the agent's models: 0 is its own, then come the fallbacks. */
export interface Attempt {
  readonly model: number;
  readonly tries: number;
  /** Why earlier ones failed, in words for the run's user: one per model that was given up, and the latest. */
  readonly failures: readonly string[];
  /** One of them was transient. Absent if none was, and in journals that are older than this field. */
  readonly retryable?: boolean;
  /** Their log lines. */
  readonly log: readonly LogLine[];
  /** When the first of them began, of a step that comes before the run's own beginning. */
  readonly sinceMs?: number;
  /** The latest of them in a row that reached nothing: how many, and when the first began. */
  readonly unreachable?: { readonly tries: number; readonly sinceMs: number };
  /** The engine repeats it, because it has no result of it. Never journaled. */
  readonly interrupted?: boolean;
}

export const firstAttempt: Attempt = { model: 0, tries: 1, failures: [], log: [] };

export interface ToolAttempt {
  readonly call: ToolCall;
  /** Which of the reply's calls this is, from 1. */
  readonly callNumber: number;
  readonly tries: number;
  readonly tools: readonly RunTool[];
  /** As of an `Attempt`. */
  readonly interrupted?: boolean;
}

/** A transient failure: the workflow sleeps durably and then makes this attempt. */
export interface Retry {
  readonly retry: Attempt;
  readonly afterMs: number;
}

/** A webhook delivery of the run's event, for its workflow to send. */
export interface QueuedDelivery {
  readonly id: string;
  readonly webhookId: string;
}

/** A run as recorded in the database. */
export interface Recorded {
  readonly ended: RunResult;
  readonly toDeliver: readonly QueuedDelivery[];
}

export interface Ended extends Recorded {
  /** Null once it is recorded; else the log lines to record with it. */
  readonly unrecorded: readonly LogLine[] | null;
  /** The stored contents of a run that is not recorded yet, sealed, in base64. */
  readonly contents?: string;
}

interface Logged {
  readonly log: readonly LogLine[];
}

export type BeginResult = Ended | Retry | Progress;
export type RecallResult = Ended | (Logged & { readonly recalled: readonly Recalled[] });
export type ModelResult = Ended | Retry | (Logged & { readonly reply: ModelReply; readonly costMicros: number });
export type ToolsResult = Ended | Retry | (Logged & { readonly tools: readonly RunTool[] });
/** A call that is made again after this long, and why. */
export interface ToolRetry {
  readonly retryAfterMs: number;
  /** Absent in journals that were written before it existed. */
  readonly reason?: string;
}
export type ToolCallResult = Logged & (ToolResult | ToolRetry);
