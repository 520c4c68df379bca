import type { AgentDefinition } from "@perch/contract";
import type { ModelMessage } from "../models/model.ts";

/** Everything a run needs to know, decided when it was accepted: later changes to the agent do not touch it. */
export interface RunInput {
  readonly id: string;
  /** When the engine was first asked: later calls for the same run join it and change nothing. */
  readonly acceptedAtMs: number;
  readonly organisationId: string;
  readonly agentId: string;
  readonly environment: string;
  readonly definition: Omit<AgentDefinition, "security">;
  readonly message: string;
  readonly userId: string | null;
  readonly sessionId: string | null;
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

/** Where a run stands between two steps. All of it comes from the journal, so a replay sees the same. */
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

export type StepResult =
  | { readonly ended: RunOutcome; readonly session: Session; readonly recorded: boolean }
  | { readonly next: Progress };
