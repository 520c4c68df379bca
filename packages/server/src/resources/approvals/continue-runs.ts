import type { ReadyRun } from "./waiting-run-queries.ts";

/**
 * Starts runs that are ready to go on. A run that is ready is a row, which committed with the last decision, so a process that dies
 * loses nothing: every process looks each second for runs that were not started.
 */
export interface ContinueRuns {
  /** Starts a run whose row has committed, without waiting. */
  readonly start: (run: ReadyRun) => void;
  /** Starts what was made ready and not started. */
  readonly sweep: () => Promise<void>;
  readonly stop: () => Promise<void>;
}
