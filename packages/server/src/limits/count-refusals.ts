import type { Bucket, Gate } from "./gate.ts";
import { hasEpoch } from "./gate.ts";
import { type LimitName, limitName } from "./rates.ts";
import type { RunSlots } from "./run-slots.ts";

/** Counts a refused request by the limit that refused it. */
export type CountRefusal = (limit: LimitName | "address" | "concurrent_runs") => void;

function limitOf(owner: string, bucket: Bucket | undefined) {
  if (!hasEpoch(owner)) return "address";
  return bucket ? limitName(bucket) : "organisation";
}

export const countRefusals = (gate: Gate, count: CountRefusal): Gate => ({
  ...gate,
  pass: async (owner, buckets) => {
    const decision = await gate.pass(owner, buckets);
    if (!decision.allowed) count(limitOf(owner, buckets[decision.refusedBy ?? 0]));
    return decision;
  },
});

export const countFullSlots = (slots: RunSlots, count: CountRefusal): RunSlots => ({
  ...slots,
  take: async (request) => {
    const full = await slots.take(request);
    if (full) count("concurrent_runs");
    return full;
  },
});
