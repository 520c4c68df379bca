import { LRUCache } from "lru-cache";
import type { Bucket, Gate, Passage } from "./gate.ts";

const mostRefusals = 50_000;
const longestMs = 10_000;

/** Whoever was refused is refused again here until its wait is over: a flood costs Valkey nothing. */
export function rememberRefusals(gate: Gate, now: () => number): Gate {
  const refusals = new LRUCache<string, { readonly untilMs: number; readonly passage: Passage }>({ max: mostRefusals });
  const idOf = (organisationId: string, { key }: Bucket) => `${organisationId} ${key}`;

  const remembered = (organisationId: string, buckets: readonly Bucket[]): Passage | undefined => {
    if (refusals.size === 0) return undefined;
    for (const bucket of buckets) {
      const refusal = refusals.get(idOf(organisationId, bucket));
      if (!refusal) continue;
      const leftMs = refusal.untilMs - now();
      if (leftMs > 0) return { ...refusal.passage, waitMs: leftMs };
      refusals.delete(idOf(organisationId, bucket));
    }
    return undefined;
  };

  return {
    ...gate,
    pass: async (organisationId, buckets) => {
      const known = remembered(organisationId, buckets);
      if (known) return known;
      const passage = await gate.pass(organisationId, buckets);
      const by = passage.refusedBy === undefined ? undefined : buckets[passage.refusedBy];
      if (by) {
        const untilMs = now() + Math.min(passage.waitMs, longestMs);
        refusals.set(idOf(organisationId, by), { untilMs, passage });
      }
      return passage;
    },
  };
}
