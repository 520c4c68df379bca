import type { AgentDefinition } from "@perch/contract";
import type { Recalled } from "../memory/memory-rules.ts";
import type { ModelMessage, ModelReply, ToolCall } from "../models/model.ts";
import type { ToolResult } from "../tools/call-tool.ts";
import type { RunTool } from "../tools/tool-set.ts";
import type { TraceParent } from "../tracing/tracing.ts";

/** Everything a run needs to know, decided when it was accepted: later changes to the agent do not touch it. */
export interface RunInput {
  readonly id: string;
  /** When the engine was first asked: later calls for the same run join it and change nothing. */
  readonly acceptedAtMs: number;
  readonly organisationId: string;
  readonly agentId: string;
  readonly environment: string;
  /** Null: the agent's draft. */
  readonly version: string | null;
  readonly deploymentId: string | null;
  /** The guarded canary of the environment, while there is one: its runs and those of the live deployment are compared. */
  readonly trial: string | null;
  readonly definition: Omit<AgentDefinition, "security">;
  readonly message: string;
  readonly userId: string | null;
  readonly sessionId: string | null;
  /** Whether somebody may want to read what it says while it is under way. */
  readonly streamed: boolean;
  /** The request that started it; null where nothing is traced. A node of an earlier release does not say. */
  readonly trace?: TraceParent | null;
}

/** One line of a run's log, as it is journaled and then recorded with the run. */
export interface LogLine {
  readonly at: string;
  readonly level: number;
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

interface Spent {
  readonly steps: number;
  readonly tokensUsed: number;
  readonly durationMs: number;
  /** In millionths of a US dollar, as far as the operator set prices. */
  readonly costMicros?: number;
}

export type RunOutcome = Spent &
  (
    | { readonly status: "completed"; readonly response: string }
    | { readonly status: "failed" | "cancelled"; readonly error: string }
  );

/** What was said before, and which turn of the session this is. */
export interface Session {
  readonly turn: number;
  readonly history: readonly ModelMessage[];
}

/** Where a run stands between two steps. All of it comes from journaled results, so a replay sees the same. */
export interface Progress {
  readonly step: number;
  readonly startedAtMs: number;
  readonly session: Session;
  /** What the agent remembered of earlier. A run of an earlier release has none. */
  readonly recalled?: readonly Recalled[];
  readonly said: readonly ModelMessage[];
  readonly tokensUsed: number;
  readonly costMicros: number;
  readonly log: readonly LogLine[];
}

export const beginning = (startedAtMs: number, session: Session): Progress => ({
  step: 1,
  startedAtMs,
  session,
  said: [],
  tokensUsed: 0,
  costMicros: 0,
  log: [],
});

/** Which try this is, of which of the agent's models: 0 is its own, then come the fallbacks. */
export interface Attempt {
  readonly model: number;
  readonly tries: number;
  /** Why earlier ones failed, in words for the run's user: one for each model that was given up, and the last. */
  readonly failures: readonly string[];
  /** What there is to log of them. */
  readonly log: readonly LogLine[];
}

export const firstAttempt: Attempt = { model: 0, tries: 1, failures: [], log: [] };

export interface ToolTry {
  readonly call: ToolCall;
  /** Which of the reply's calls it is, from 1. */
  readonly place: number;
  readonly tries: number;
  readonly tools: readonly RunTool[];
}

/** It did not work, and may: the workflow sleeps durably and tries this attempt next. */
export interface Again {
  readonly again: Attempt;
  readonly afterMs: number;
}

/** A delivery of the run's event, for its workflow to hand over. */
export interface QueuedDelivery {
  readonly id: string;
  readonly webhookId: string;
}

/** A run as it stands in the database, at last. */
export interface Recorded {
  readonly ended: RunOutcome;
  /** A journal of an earlier release does not say. */
  readonly toDeliver?: readonly QueuedDelivery[];
}

export interface Ended extends Recorded {
  /** Null once it is recorded; else what is to be recorded with it. */
  readonly unrecorded: readonly LogLine[] | null;
}

interface Logged {
  readonly log: readonly LogLine[];
}

export type ModelResult = Ended | Again | (Logged & { readonly reply: ModelReply; readonly costMicros: number });
export type ToolsResult = Ended | Again | (Logged & { readonly tools: readonly RunTool[] });
export type ToolCallResult = Logged & (ToolResult | { readonly againAfterMs: number });
