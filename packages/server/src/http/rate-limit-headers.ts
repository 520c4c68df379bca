import type { BucketState, Rate } from "../gate/gcra.ts";

/** The headers the specification gives, and beside them those of the IETF draft (RateLimit header fields for HTTP). */
export function rateLimitHeaders({ capacity, intervalMs }: Rate, { remaining, fullAtMs }: BucketState, nowMs: number) {
  const secondsToFull = Math.max(0, Math.ceil((fullAtMs - nowMs) / 1000));
  return {
    "x-ratelimit-limit": capacity,
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": Math.ceil(fullAtMs / 1000),
    ratelimit: `"organisation";r=${remaining};t=${secondsToFull}`,
    "ratelimit-policy": `"organisation";q=${capacity};w=${Math.ceil((capacity * intervalMs) / 1000)}`,
  };
}
