/**
 * The generic cell rate algorithm: a bucket that holds `capacity` requests and gets one back every `intervalMs`.
 * Its whole state is the time at which the bucket will be full again. An unused bucket is full.
 */
export interface Rate {
  readonly capacity: number;
  readonly intervalMs: number;
}

export interface BucketState {
  /** Whole requests left. */
  readonly remaining: number;
  /** When the bucket will be full again, in Unix milliseconds. */
  readonly fullAtMs: number;
}

/** How long until one more request fits; 0 when it fits now. */
export const waitMs = (fullAtMs: number, { capacity, intervalMs }: Rate, nowMs: number): number =>
  Math.max(0, Math.max(fullAtMs, nowMs) + intervalMs - capacity * intervalMs - nowMs);

export const fullAtAfterRequest = (fullAtMs: number, { intervalMs }: Rate, nowMs: number): number =>
  Math.max(fullAtMs, nowMs) + intervalMs;

export function bucketState(fullAtMs: number, { capacity, intervalMs }: Rate, nowMs: number): BucketState {
  const fullAt = Math.max(fullAtMs, nowMs);
  // The epsilon keeps rounding from showing n - 1 for a bucket with exactly n requests left.
  const remaining = Math.floor(capacity - (fullAt - nowMs) / intervalMs + 1e-6);
  return { remaining: Math.min(Math.max(remaining, 0), capacity), fullAtMs: fullAt };
}
