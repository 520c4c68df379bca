import { describeRefusedData, isDatabaseUnavailable, isDataRefused } from "../../db/refused-data.ts";
import type { RunInput } from "../../engine/messages.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { RunRecord } from "../record/run-record.ts";
import type { Ended, LogLine, Progress } from "../run.ts";
import { deadlineMs, limitReached } from "./run-rules.ts";

/** Does the work of a step. If it throws, and the run was cancelled or its time is over, the run ends; else the engine retries. */
export type EndIfOver = <T>(
  run: RunInput,
  progress: Progress,
  log: readonly LogLine[],
  work: () => Promise<T>,
) => Promise<T | Ended>;

interface EndIfOverDeps {
  readonly records: Pick<RunRecord, "fail" | "cancel" | "isCancelled">;
  readonly logger: Logger;
  readonly now: () => number;
}

/**
 * A failure that a step expects is a result. Any other error must not hold the run for ever: only a database that
 * cannot be reached is waited for, however long that takes.
 */
export function createEndIfOver({ records, logger, now }: EndIfOverDeps): EndIfOver {
  return async (run, progress, log, work) => {
    try {
      return await work();
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      logger.warn({ err: error, runId: toPublicId("request", run.id), step: progress.step }, "run step failed");
      if (isDataRefused(error)) {
        const message = `The database refused data of the run: ${describeRefusedData(error)}.`;
        return records.fail(run, progress, { message, code: "server_error", retryable: false }, log);
      }
      if (await records.isCancelled(run).catch(() => false)) return records.cancel(run, progress, log);
      const limit = limitReached(run, progress, deadlineMs(run, progress) - now());
      if (!limit) throw error;
      const message = `${limit.message} Last failure: a step of the run failed in the server, whose log says why.`;
      return records.fail(run, progress, { message, code: "server_error", retryable: true }, log);
    }
  };
}
