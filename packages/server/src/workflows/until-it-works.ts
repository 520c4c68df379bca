/** A step that throws is tried again until it succeeds: what ends a workflow is decided inside its steps. */
export const untilItWorks = { initialRetryInterval: 100, retryIntervalFactor: 2, maxRetryInterval: 5000 };
