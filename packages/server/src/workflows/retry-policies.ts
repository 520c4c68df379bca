/**
 * Retries a step that throws until it succeeds, because the steps themselves decide when a workflow ends. A step of a
 * run throws while the database cannot be reached, and otherwise only until the run is cancelled or its time is over.
 */
export const retryStepUntilSuccess = { initialRetryInterval: 100, retryIntervalFactor: 2, maxRetryInterval: 5000 };

/**
 * The same for periodic background work, for which no request waits: at most one retry a minute once it keeps failing.
 */
export const retryTickUntilSuccess = { initialRetryInterval: 1000, retryIntervalFactor: 2, maxRetryInterval: 60_000 };

/**
 * For every service. The engine's own policy pauses an invocation after about an hour without workers, and a paused invocation
 * blocks its key until an operator resumes it. Ours retries for as long as it takes.
 */
export const serviceOptions = {
  idempotencyRetention: { hours: 1 },
  journalRetention: 0,
  retryPolicy: {
    initialInterval: 100,
    exponentiationFactor: 2,
    maxInterval: 5000,
    maxAttempts: Number.MAX_SAFE_INTEGER,
    onMaxAttempts: "pause" as const,
  },
};
