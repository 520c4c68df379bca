import { createLruCache } from "../platform/lru-cache.ts";
import { type Bucket, type Gate, type GateDecision, hasEpoch } from "./gate.ts";
import { bucketState, fullAtAfterRequest, waitMs } from "./gcra.ts";

/** An evicted bucket starts full again, so limits get loose above this number of active buckets on one node. */
const maxBuckets = 200_000;
const maxAgeMs = 2000;

/** The gate of a single node, and every node's fallback while Valkey is unavailable. */
export function createLocalGate(now: () => number): Gate {
  const fullAt = createLruCache<string, number>(maxBuckets);
  const epochs = createLruCache<string, string>(maxBuckets);
  let lastEpoch = 0;

  const nextEpoch = (organisationId: string): string => {
    const epoch = `local ${++lastEpoch}`;
    epochs.set(organisationId, epoch);
    return epoch;
  };

  const pass = (owner: string, buckets: readonly Bucket[]): GateDecision => {
    const nowMs = now();
    const epoch = { value: hasEpoch(owner) ? (epochs.get(owner) ?? nextEpoch(owner)) : "", maxAgeMs };
    const before = buckets.map(({ key }) => fullAt.get(`${owner} ${key}`) ?? nowMs);
    const waits = buckets.map(({ rate }, i) => waitMs(before[i] ?? nowMs, rate, nowMs));
    const longest = Math.max(0, ...waits);
    const allowed = longest === 0;
    const states = buckets.map(({ key, rate, peekOnly }, i) => {
      const spent = allowed && !peekOnly;
      const next = spent ? fullAtAfterRequest(before[i] ?? nowMs, rate, nowMs) : (before[i] ?? nowMs);
      if (spent) fullAt.set(`${owner} ${key}`, next);
      return bucketState(next, rate, nowMs);
    });
    return {
      allowed,
      refusedBy: allowed ? undefined : waits.indexOf(longest),
      waitMs: longest,
      buckets: states,
      epoch,
    };
  };

  return {
    pass: async (owner, buckets) => pass(owner, buckets),
    ready: async () => {},
    replaceEpoch: async (organisationId) => void nextEpoch(organisationId),
    close: async () => {},
  };
}
