import type { BucketState, Rate } from "./gcra.ts";

export interface Bucket {
  readonly key: string;
  readonly rate: Rate;
  /** Only look whether a request would fit, and take nothing. */
  readonly lookOnly?: boolean;
}

/** What one look at the gate tells: may I pass, and is what I remember still true? */
export interface Passage {
  readonly allowed: boolean;
  /** Which bucket refused, by its place in the question, and for how long. */
  readonly refusedBy: number | undefined;
  readonly waitMs: number;
  /** Each bucket after this request, in the order asked. */
  readonly buckets: readonly BucketState[];
  readonly epoch: Epoch;
}

/** Replaced at every change of an organisation. What was read under another epoch, or too long ago, does not count. */
export interface Epoch {
  readonly value: string;
  readonly maxAgeMs: number;
}

/** Organisations have an epoch; an address has none, and what it asks for must leave nothing behind but its bucket. */
export const hasEpoch = (owner: string): boolean => !owner.startsWith("address ");

/** All buckets give one request, or none does. */
export interface Gate {
  /** Whose buckets: an organisation's id, or an address (see `addressOwner`). */
  readonly pass: (owner: string, buckets: readonly Bucket[]) => Promise<Passage>;
  /** Resolves when the gate is as good as it will get: connected, or after a moment without. */
  readonly ready: () => Promise<void>;
  /** After a committed change: whatever any node remembers of the organisation is void. */
  readonly replaceEpoch: (organisationId: string) => Promise<void>;
  readonly close: () => Promise<void>;
}
