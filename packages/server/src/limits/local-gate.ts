import { createLruCache } from "../platform/lru-cache.ts";
import { type Bucket, type Gate, type GateDecision, hasEpoch, sharedForMs } from "./gate.ts";
import { bucketState, fullAtAfterRequest, type Rate, waitMs } from "./gcra.ts";

/** An evicted bucket starts full again, so limits get loose above this number of active buckets on one node. */
const maxBuckets = 200_000;
const maxAgeMs = 2000;

/** How many owners shared each rate in the last minute. */
function createOwnerCounts() {
  const seenAt = createLruCache<string, Map<string, number>>(maxBuckets);
  return (key: string, owner: string, nowMs: number): number => {
    const owners = seenAt.get(key) ?? new Map<string, number>();
    seenAt.set(key, owners);
    // To the end: the first is the one that was seen longest ago.
    owners.delete(owner);
    owners.set(owner, nowMs);
    for (const [other, atMs] of owners) {
      if (nowMs - atMs < sharedForMs) break;
      owners.delete(other);
    }
    return owners.size;
  };
}

/** The gate of a single node, and every node's fallback while Valkey is unavailable. */
export function createLocalGate(now: () => number): Gate {
  const fullAt = createLruCache<string, number>(maxBuckets);
  const epochs = createLruCache<string, string>(maxBuckets);
  const countOwners = createOwnerCounts();
  let lastEpoch = 0;

  const nextEpoch = (organisationId: string): string => {
    const epoch = `local ${++lastEpoch}`;
    epochs.set(organisationId, epoch);
    return epoch;
  };

  /** Of one owner: the rate itself, or its part of it, with the same time from empty to full. */
  const rateOf = ({ key, rate, maxPartIntervalMs }: Bucket, owner: string, nowMs: number): Rate => {
    if (maxPartIntervalMs === undefined) return rate;
    const intervalMs = Math.min(rate.intervalMs * countOwners(key, owner, nowMs), maxPartIntervalMs);
    return { intervalMs, capacity: (rate.capacity * rate.intervalMs) / intervalMs };
  };

  const pass = (owner: string, buckets: readonly Bucket[]): GateDecision => {
    const nowMs = now();
    const epoch = { value: hasEpoch(owner) ? (epochs.get(owner) ?? nextEpoch(owner)) : "", maxAgeMs };
    const rates = buckets.map((bucket) => rateOf(bucket, owner, nowMs));
    const before = buckets.map(({ key }) => fullAt.get(`${owner} ${key}`) ?? nowMs);
    const waits = rates.map((rate, i) => waitMs(before[i] ?? nowMs, rate, nowMs));
    const longest = Math.max(0, ...waits);
    const allowed = longest === 0;
    const states = rates.map((rate, i) => {
      const { key, peekOnly } = buckets[i] as Bucket;
      const spent = allowed && !peekOnly;
      const next = spent ? fullAtAfterRequest(before[i] ?? nowMs, rate, nowMs) : (before[i] ?? nowMs);
      if (spent) fullAt.set(`${owner} ${key}`, next);
      return bucketState(next, rate, nowMs);
    });
    return {
      allowed,
      refusedBy: allowed ? undefined : waits.indexOf(longest),
      waitMs: longest,
      nowMs,
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
