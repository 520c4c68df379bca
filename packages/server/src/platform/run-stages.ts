import { channel } from "node:diagnostics_channel";

/** What happens to a run, in this order. */
export type RunStage =
  | "admitted"
  | "slot_taken"
  | "worker_called"
  | "record_queued"
  | "statement_started"
  | "statement_done"
  | "slot_released"
  | "output_returned"
  | "engine_answered";

export interface RunStageMessage {
  readonly runId: string;
  readonly stage: RunStage;
  /** Of the request that began the run: only with `admitted`. */
  readonly correlationId: string | undefined;
}

const stages = channel("perch:run");

/** For `pnpm bench invoke --stages`. Nothing is built or sent unless it subscribes. */
export function publishRunStage(runId: string, stage: RunStage, correlationId?: string): void {
  if (stages.hasSubscribers) stages.publish({ runId, stage, correlationId } satisfies RunStageMessage);
}
