import { type Bucket, hasEpoch } from "./gate.ts";
import { type LimitName, limitName } from "./rates.ts";
import type { RunSlots } from "./run-slots.ts";

/** Counts a refused request by the limit that refused it. */
export type CountRefusal = (limit: LimitName | "address" | "concurrent_runs") => void;

/** The limit by which a refusal of this owner is counted. */
export function countedLimit(owner: string, bucket: Bucket | undefined): LimitName | "address" {
  if (!hasEpoch(owner)) return "address";
  return bucket ? limitName(bucket) : "organisation";
}

export const countFullSlots = (slots: RunSlots, count: CountRefusal): RunSlots => ({
  ...slots,
  take: async (request) => {
    const full = await slots.take(request);
    if (full) count("concurrent_runs");
    return full;
  },
});
