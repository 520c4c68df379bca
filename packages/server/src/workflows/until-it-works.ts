/** Retries a step that throws until it succeeds: what ends a workflow is decided inside its steps. */
export const retryStepUntilSuccess = { initialRetryInterval: 100, retryIntervalFactor: 2, maxRetryInterval: 5000 };

/** The same for periodic background work, which nobody waits for: at most one retry a minute once it keeps failing. */
export const retryTickUntilSuccess = { initialRetryInterval: 1000, retryIntervalFactor: 2, maxRetryInterval: 60_000 };
