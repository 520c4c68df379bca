import type { AgentResource, EventType, QuotaName } from "@perch/contract";
import type { RawBuilder } from "kysely";
import type { Scope } from "../auth/caller.ts";
import type { OrganisationTransaction } from "../db/database.ts";
import type { Tables } from "../db/tables.ts";
import type { AgentKey } from "../platform/agent-key.ts";
import type { KeySource } from "../platform/sealing.ts";
import type { AddTask } from "./engine-tasks/engine-tasks.ts";
import type { Erasure } from "./erasure-stage.ts";

/** A data key of its own, and its use. The purpose is part of the encrypted data: never change one. */
export interface DataKey {
  readonly purpose: string;
  readonly create: (key: KeySource) => unknown;
}

/** The owner of the counted resources. The agent is given if the quota is one of agents. */
export interface Counted {
  readonly organisationId: string;
  readonly agentId?: string | undefined;
}

export interface Quota {
  /** An expression that counts up to `max`: no further, so that its cost does not grow with the number of rows. */
  readonly count: (of: Counted, max: number) => RawBuilder<number>;
  /** The name of the resource that has reached its limit, with the limit in place of `#`. */
  readonly reached: string;
  /** How to make room, without the last full stop. */
  readonly advice: string;
}

/** The agent that it belongs to; null if it belongs to none, undefined if it does not exist. */
export type FindAgentId = (
  trx: OrganisationTransaction,
  scope: Scope,
  id: string,
) => Promise<string | null | undefined>;

/** Work that every process repeats. The next one continues with the rest. */
export interface Sweep {
  readonly name: string;
  readonly everySeconds: number;
  readonly run: () => Promise<void>;
}

/**
 * A step of the hourly housekeeping, or of reconciling every few minutes. It is bounded: the next tick continues with
 * the rest.
 */
export interface Step {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** A step that continues where the last tick ended; null for the beginning. */
export interface PagedStep {
  readonly name: string;
  readonly runFrom: (after: never) => Promise<unknown>;
}

/**
 * Everything that the rest of the server has to know about a resource. It is listed in `compose/resources.ts`. Parts
 * that a resource does not have are left out.
 */
export interface Resource {
  readonly name: string;
  readonly tables: Tables;
  /** Its operations, `satisfies Handlers`. */
  readonly handlers?: (deps: never) => object;
  readonly dataKeys?: Readonly<Record<string, DataKey>>;
  /** How the audit log names a member of each of its collections in a path. */
  readonly audited?: Readonly<Record<string, string>>;
  /** Finds the agent, whose settings apply if a path names one of these. */
  readonly agentOf?: Partial<Readonly<Record<AgentResource, FindAgentId>>>;
  readonly quotas?: Partial<Readonly<Record<QuotaName, Quota>>>;
  readonly publishes?: readonly EventType[];
  readonly erasure?: Erasure;
  /** In the transaction that deletes an agent. */
  readonly onAgentDelete?: (trx: OrganisationTransaction, agent: AgentKey, add: AddTask) => Promise<void>;
  /** Called in the transaction that resumes a paused agent. */
  readonly onAgentResume?: (trx: OrganisationTransaction, agent: AgentKey) => Promise<void>;
  /** After that transaction, in the background. Reconciling continues with the rest. */
  readonly afterAgentDelete?: (deps: never) => (agent: AgentKey) => Promise<void>;
  /** Counted by every process, in its registry. */
  readonly metrics?: (registry: never) => object;
  /** Counted by workers, on every scrape. */
  readonly gauges?: (registry: never, deps: never) => void;
  /** In deploy/alerts/perch.yaml. */
  readonly alerts?: readonly `Perch${string}`[];
  readonly sweeps?: (deps: never) => readonly Sweep[];
  readonly housekeeping?: (deps: never) => readonly Step[];
  readonly reconcile?: (deps: never) => readonly (Step | PagedStep)[];
}
