import type { AgentDefinition } from "@perch/contract";
import type { ModelMessage, ModelReply } from "../models/model.ts";
import type { ToolResult } from "../tools/call-tool.ts";
import type { RunTool } from "../tools/tool-set.ts";

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
}

interface Spent {
  readonly steps: number;
  readonly tokensUsed: number;
  readonly durationMs: number;
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
  readonly said: readonly ModelMessage[];
  readonly tokensUsed: number;
}

export const beginning = (startedAtMs: number, session: Session): Progress => ({
  step: 1,
  startedAtMs,
  session,
  said: [],
  tokensUsed: 0,
});

/** Which try this is, of which of the agent's models: 0 is its own, then come the fallbacks. */
export interface Attempt {
  readonly model: number;
  readonly tries: number;
  /** Why earlier ones failed, in words for the run's user: one for each model that was given up, and the last. */
  readonly failures: readonly string[];
}

export const firstAttempt: Attempt = { model: 0, tries: 1, failures: [] };

/** It did not work, and may: the workflow sleeps durably and tries this attempt next. */
export interface Again {
  readonly again: Attempt;
  readonly afterMs: number;
}

export interface Ended {
  readonly ended: RunOutcome;
  readonly recorded: boolean;
}

export type ModelResult = Ended | Again | { readonly reply: ModelReply };
export type ToolsResult = Ended | Again | { readonly tools: readonly RunTool[] };
export type ToolCallResult = ToolResult | { readonly againAfterMs: number };
