import { LRUCache } from "lru-cache";
import { type Bucket, type Gate, hasEpoch, type Passage } from "./gate.ts";
import { afterOne, bucketState, waitMs } from "./gcra.ts";

/** A bucket that falls out of memory starts full again: at this number of live buckets on one node limits get loose. */
const mostBuckets = 200_000;
const maxAgeMs = 2000;

/** The gate of a single node, and every node's gate while Valkey is away. */
export function createLocalGate(now: () => number): Gate {
  const fullAt = new LRUCache<string, number>({ max: mostBuckets });
  const epochs = new LRUCache<string, string>({ max: mostBuckets });
  let lastEpoch = 0;

  const nextEpoch = (organisationId: string): string => {
    const epoch = `local ${++lastEpoch}`;
    epochs.set(organisationId, epoch);
    return epoch;
  };

  const pass = (owner: string, buckets: readonly Bucket[]): Passage => {
    const nowMs = now();
    const epoch = { value: hasEpoch(owner) ? (epochs.get(owner) ?? nextEpoch(owner)) : "", maxAgeMs };
    const before = buckets.map(({ key }) => fullAt.get(`${owner} ${key}`) ?? nowMs);
    const waits = buckets.map(({ rate }, i) => waitMs(before[i] ?? nowMs, rate, nowMs));
    const longest = Math.max(0, ...waits);
    const allowed = longest === 0;
    const states = buckets.map(({ key, rate, lookOnly }, i) => {
      const spent = allowed && !lookOnly;
      const next = spent ? afterOne(before[i] ?? nowMs, rate, nowMs) : (before[i] ?? nowMs);
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
