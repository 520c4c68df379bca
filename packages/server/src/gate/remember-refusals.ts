import { LRUCache } from "lru-cache";
import type { Bucket, Gate, Passage } from "./gate.ts";
import { type BucketState, bucketState } from "./gcra.ts";

const mostRefusals = 50_000;
/** A limit may be raised meanwhile: whoever waits for hours is let ask again after this time. */
const longestMemoryMs = 1000;

interface Refusal {
  readonly forgetAtMs: number;
  readonly refusedUntilMs: number;
  readonly epoch: Passage["epoch"];
  readonly states: ReadonlyMap<string, BucketState>;
}

/** Whoever was refused is refused again here until its wait is over: a flood costs Valkey nothing. */
export function rememberRefusals(gate: Gate, now: () => number): Gate {
  const refusals = new LRUCache<string, Refusal>({ max: mostRefusals });
  const idOf = (owner: string, { key }: Bucket) => `${owner} ${key}`;

  const remembered = (owner: string, buckets: readonly Bucket[]): Passage | undefined => {
    if (refusals.size === 0) return undefined;
    const nowMs = now();
    for (const [refusedBy, bucket] of buckets.entries()) {
      const refusal = refusals.get(idOf(owner, bucket));
      if (!refusal) continue;
      if (refusal.forgetAtMs <= nowMs) {
        refusals.delete(idOf(owner, bucket));
        continue;
      }
      const states = buckets.map(({ key, rate }) => refusal.states.get(key) ?? bucketState(nowMs, rate, nowMs));
      return {
        allowed: false,
        refusedBy,
        waitMs: refusal.refusedUntilMs - nowMs,
        buckets: states,
        epoch: refusal.epoch,
      };
    }
    return undefined;
  };

  const remember = (
    owner: string,
    buckets: readonly Bucket[],
    { refusedBy, waitMs, epoch, buckets: states }: Passage,
  ): void => {
    const by = refusedBy === undefined ? undefined : buckets[refusedBy];
    if (!by) return;
    const byKey = new Map(buckets.flatMap(({ key }, i) => (states[i] ? [[key, states[i]] as const] : [])));
    const refusedUntilMs = now() + waitMs;
    refusals.set(idOf(owner, by), {
      refusedUntilMs,
      forgetAtMs: Math.min(refusedUntilMs, now() + longestMemoryMs),
      epoch,
      states: byKey,
    });
  };

  return {
    ...gate,
    pass: async (owner, buckets) => {
      const known = remembered(owner, buckets);
      if (known) return known;
      const passage = await gate.pass(owner, buckets);
      remember(owner, buckets, passage);
      return passage;
    },
  };
}
