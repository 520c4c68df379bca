import type { AgentDefinition, ApprovalKind, Invocation, Tier } from "@perch/contract";
import type { AgentKey } from "../platform/agent-key.ts";
import type { ApprovalFloor } from "../platform/approval-floor.ts";
import type { TraceParent } from "../platform/trace-parent.ts";

/*
 * Workers of another release may read these messages, and the engine's journal keeps them: change their fields only by adding some.
 */

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
  /** Names the definition for workers. Absent: the definition travels with the run. */
  readonly definitionDigest?: string;
  readonly message: string;
  readonly userId: string | null;
  readonly sessionId: string | null;
  /** Whether its events are streamed while it runs. */
  readonly streamed: boolean;
  /** The tier of its organisation when it was accepted. Absent if it is not streamed and calls no other server. */
  readonly tier?: Tier;
  /** The request that started it; null if nothing is traced. */
  readonly trace: TraceParent | null;
  /** The engine had lost the run, which ends like this at once. Only of a run that is sent again. */
  readonly lost?: LostRun;
  /** The invoker, as `identityOf` names callers: if it sees its own runs alone, or a person may have to decide in this. */
  readonly invoker?: string;
  /** The calls that a person must approve, whatever the definition says. Absent: none of its tools'. */
  readonly floor?: ApprovalFloor;
  /** The features of `platform/release-features.ts` without which a worker would skip a policy or a login. */
  readonly needs?: readonly string[];
  /** How often the run was suspended to wait for a person. Absent: not yet. Journals, sealed states and columns have this name, so it stays. */
  readonly cut?: number;
  /** Lines of its log that were written when it was suspended. */
  readonly linesWritten?: number;
}

/**
 * Continues a run that waited: its state is in the database. With the run's id, `cut` is the engine's idempotency key.
 */
export interface ContinuedRun {
  readonly id: string;
  readonly organisationId: string;
  readonly agentId: string;
  readonly userId: string | null;
  readonly sessionId: string | null;
  readonly cut: number;
  readonly continues: true;
  /** As those of a run. It waited, so it may need all features of the release that continues it. */
  readonly needs?: readonly string[];
}

/** How a run ends that the engine lost and that cannot start again. */
export type LostRun =
  | { readonly status: "cancelled" }
  /** `error` says why, in words for the run's user. */
  | { readonly status: "failed"; readonly error: string };

/** A run as the engine carries it: if its definition has a name, without the definition. */
export type RunMessage =
  | RunInput
  | (Omit<RunInput, "definition"> & { readonly definition?: undefined; readonly definitionDigest: string });

interface Usage {
  readonly steps: number;
  readonly tokensUsed: number;
  readonly durationMs: number;
  /** In millionths of a US dollar, as far as the operator set prices. Absent in an outcome that was read from the record. */
  readonly costMicros?: number;
}

/** The worker could not release the slot of this part of the run, so the process that waits for the result does. */
interface HeldSlot {
  readonly slotHeldByCut?: number;
}

/**
 * `server_error`: Perch itself failed. The cause of every other failure is the agent, its limits, or a service that it
 * calls.
 */
export type FailureCode = NonNullable<Invocation["error_code"]>;

export type RunOutcome = Usage &
  HeldSlot &
  (
    | { readonly status: "completed"; readonly response: string }
    | { readonly status: "cancelled"; readonly error: string }
    | {
        readonly status: "failed";
        readonly error: string;
        /** Absent, like `retryable`, if the run ended before failures had a code. */
        readonly code?: FailureCode;
        /** Whether a new run of the same message can succeed without a change to the agent. */
        readonly retryable?: boolean;
      }
  );

/** An action that a run waits for. */
export interface RequiredAction {
  /** The approval's. */
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly tool: string;
  readonly step: number;
  readonly call: number;
}

/** A run that waits for persons or, without any action, for its turn in the session. */
export interface WaitingOutcome extends Usage, HeldSlot {
  readonly status: "waiting";
  readonly cut: number;
  readonly actions: readonly RequiredAction[];
}

/** The engine's answer for a run: its end, or that it waits and is continued by another invocation. */
export type RunResult = RunOutcome | WaitingOutcome;

/** The fields with which a workflow identifies a deployment. */
export interface DeploymentKey extends AgentKey {
  readonly id: string;
  readonly environment: string;
}

/** One look at a canary. */
export interface CanaryWatch extends DeploymentKey {
  /**
   * In milliseconds. If the canary has been checked since then, this check is skipped. If absent, it is never skipped.
   */
  readonly ifLastLookedAt?: number;
}

/** Identifies the erasure of a user. The engine never gets to know which user it is. */
export interface ErasureKey {
  readonly organisationId: string;
  readonly id: string;
}

/** Identifies a clear of an agent's memory. */
export interface ClearKey extends AgentKey {
  readonly id: string;
}
