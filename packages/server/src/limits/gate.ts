import type { Epoch } from "../cache/epoch.ts";
import type { BucketState, Rate } from "./gcra.ts";

export interface Bucket {
  readonly key: string;
  readonly rate: Rate;
  /** Only check whether a request would fit, without counting it. */
  readonly peekOnly?: boolean;
  /**
   * Set: the owners that used a bucket of this key in the last minute share its rate in equal parts. A part is never
   * slower than one request in this time, however many they are.
   */
  readonly maxPartIntervalMs?: number;
}

/** How long an owner counts among those that share a rate. */
export const sharedForMs = 60_000;

/** Whether a request is within its limits, and the epoch that decides which cached values are still valid. */
export interface GateDecision {
  readonly allowed: boolean;
  /** Index of the bucket that refused. */
  readonly refusedBy: number | undefined;
  readonly waitMs: number;
  /** The time of the decision, on the clock of its buckets. */
  readonly nowMs: number;
  /** Each bucket after this request, in the order given. */
  readonly buckets: readonly BucketState[];
  readonly epoch: Epoch;
}

/** Organisations have an epoch. Addresses have none, so that unauthenticated requests store nothing but their bucket. */
export const hasEpoch = (owner: string): boolean => !owner.startsWith("address ");

/** Rate limits, and the epochs of organisations. */
export interface Gate {
  /** Takes one request from every bucket or from none. `owner` is an organisation's id, or an address (see `addressOwner`). */
  readonly pass: (owner: string, buckets: readonly Bucket[]) => Promise<GateDecision>;
  /** Resolves when Valkey is connected, or after a short wait without it. */
  readonly ready: () => Promise<void>;
  /** Call after a committed change: it invalidates all nodes' caches of the organisation. */
  readonly replaceEpoch: (organisationId: string) => Promise<void>;
  readonly close: () => Promise<void>;
}
