import { createLruCache } from "../platform/lru-cache.ts";
import { type CountRefusal, countedLimit } from "./count-refusals.ts";
import type { Bucket, Gate, GateDecision } from "./gate.ts";
import { type BucketState, bucketState } from "./gcra.ts";

const maxRefusals = 50_000;
/** A limit may be raised in the meantime, so even a long refusal is checked again after this time. */
const maxCacheMs = 1000;

interface Refusal {
  readonly expiresAtMs: number;
  readonly refusedUntilMs: number;
  readonly epoch: GateDecision["epoch"];
  readonly states: ReadonlyMap<string, BucketState>;
}

/** Caches refusals until their wait is over, so that a flood of refused requests does not reach Valkey. Counts each of them. */
export function cacheRefusals(gate: Gate, now: () => number, count: CountRefusal): Gate {
  const refusals = createLruCache<string, Refusal>(maxRefusals);
  const idOf = (owner: string, { key }: Bucket) => `${owner} ${key}`;

  const findCachedRefusal = (owner: string, buckets: readonly Bucket[]): GateDecision | undefined => {
    if (refusals.size === 0) return undefined;
    const nowMs = now();
    for (const [refusedBy, bucket] of buckets.entries()) {
      const refusal = refusals.get(idOf(owner, bucket));
      if (!refusal) continue;
      if (refusal.expiresAtMs <= nowMs) {
        refusals.delete(idOf(owner, bucket));
        continue;
      }
      const states = buckets.map(({ key, rate }) => refusal.states.get(key) ?? bucketState(nowMs, rate, nowMs));
      return {
        allowed: false,
        refusedBy,
        waitMs: refusal.refusedUntilMs - nowMs,
        nowMs,
        buckets: states,
        epoch: refusal.epoch,
      };
    }
    return undefined;
  };

  const cacheRefusal = (
    owner: string,
    buckets: readonly Bucket[],
    { refusedBy, waitMs, epoch, buckets: states }: GateDecision,
  ): void => {
    const refusingBucket = refusedBy === undefined ? undefined : buckets[refusedBy];
    if (!refusingBucket) return;
    const byKey = new Map(buckets.flatMap(({ key }, i) => (states[i] ? [[key, states[i]] as const] : [])));
    const refusedUntilMs = now() + waitMs;
    refusals.set(idOf(owner, refusingBucket), {
      refusedUntilMs,
      expiresAtMs: Math.min(refusedUntilMs, now() + maxCacheMs),
      epoch,
      states: byKey,
    });
  };

  return {
    ...gate,
    pass: async (owner, buckets) => {
      const cached = findCachedRefusal(owner, buckets);
      const decision = cached ?? (await gate.pass(owner, buckets));
      if (decision.allowed) return decision;
      if (!cached) cacheRefusal(owner, buckets, decision);
      count(countedLimit(owner, buckets[decision.refusedBy ?? 0]));
      return decision;
    },
  };
}
