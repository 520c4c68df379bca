import type { ApprovalStatus } from "@perch/contract";
import type { RunInput } from "../../engine/messages.ts";
import type { ModelReply } from "../../outbound/models/model.ts";
import type { RunTool, ToolResult } from "../../outbound/tools/tool.ts";
import type { WaitingState } from "../../resources/waiting-runs/waiting-state.ts";
import type { Ended, Progress } from "../run.ts";

/** A reply with calls that wait for persons. */
export interface WaitingReply {
  readonly reply: ModelReply;
  readonly tools: readonly RunTool[];
  /** The results of the reply's calls, in their order; null for those that wait. */
  readonly results: readonly (ToolResult | null)[];
}

/** All that the continuation of a run needs, on whichever release. Plain JSON, sealed in the database. */
export interface SuspendedState extends WaitingState {
  /**
   * The version of this object. A release that changes it also reads the earlier ones, because a run may wait for
   * weeks.
   */
  readonly format: 1;
  readonly run: RunInput;
  readonly progress: Progress;
  /** How much of its time the run had used: its clock stops while it waits. */
  readonly elapsedMs: number;
  readonly tools: readonly RunTool[];
}

/** A person's decision on one call. */
export interface Verdict {
  readonly callNumber: number;
  readonly status: Exclude<ApprovalStatus, "open">;
  /** Other arguments than the model's. */
  readonly arguments?: unknown;
  readonly answer?: unknown;
  readonly reason?: string;
}

/** A run that goes on: its state, and the decisions. */
export interface Resumed {
  readonly state: SuspendedState;
  readonly verdicts: readonly Verdict[];
  /** Whether it was cancelled or its agent deleted while it waited, so that it ends now. */
  readonly isCancelled: boolean;
}

export type ResumeResult = Ended | Resumed;
