import type { Caller } from "../../auth/caller.ts";
import type { SecondFactor } from "../../auth/second-factor.ts";
import type { Epoch } from "../../cache/epoch.ts";
import { createEpochCache } from "../../cache/epoch-cache.ts";
import type { Shares } from "../../fairness/shares.ts";

/** Whether the caller's key has a confirmed second factor. People have none here. */
export type HasSecondFactor = (caller: Caller, epoch: Epoch) => Promise<boolean>;

interface Deps extends Pick<SecondFactor, "isEnrolled"> {
  readonly cacheBytes: Shares["cacheBytes"];
  readonly now: () => number;
}

const bounds = { maxEntries: 10_000, maxBytes: 1024 * 1024 };

/**
 * Read once after a change of the organisation, because clients often ask for their own identity, and that must cost
 * the database nothing.
 */
export function createHasSecondFactor({ isEnrolled, cacheBytes, now }: Deps): HasSecondFactor {
  const cache = createEpochCache<boolean>({ ...bounds, partOf: cacheBytes, now });
  return async (caller, epoch) => {
    const { keyId, organisation } = caller;
    if (keyId === null) return false;
    return cache.load(`${organisation.id} ${keyId}`, epoch, () => isEnrolled(caller));
  };
}
