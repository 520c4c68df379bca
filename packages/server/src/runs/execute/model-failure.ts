import type { RunInput } from "../../engine/messages.ts";
import { PermanentModelError, TransientModelError } from "../../outbound/models/model.ts";
import type { Logger } from "../../platform/logger.ts";
import { logLine } from "../record/run-log.ts";
import type { RunRecord } from "../record/run-record.ts";
import type { Attempt, LogLine, ModelResult, Progress, RunFailure } from "../run.ts";
import { afterFailure, deadlineMs, displayModel, type Failure, limitReached } from "./run-rules.ts";
import { modelEvent, type PublishStep, toReason } from "./step-events.ts";

interface ModelFailureDeps {
  readonly records: Pick<RunRecord, "fail" | "cancel" | "isCancelled">;
  readonly publish: PublishStep;
  readonly logger: Logger;
  readonly now: () => number;
}

/** The next step after a model call that threw: a retry, the next fallback, or the end of the run. */
type HandleModelFailure = (
  run: RunInput,
  progress: Progress,
  attempt: Attempt,
  thrown: { readonly error: unknown; readonly startedAtMs: number },
) => Promise<ModelResult>;

/** The failure in words for the run's user. Unexpected errors are detailed in the log only. */
function toFailure(error: unknown, ref: string, logger: Logger): Omit<Failure, "startedAtMs" | "failedAtMs"> {
  if (error instanceof PermanentModelError) return { message: error.message, transient: false };
  if (error instanceof TransientModelError) {
    const { message, retryAfterMs, isUnreachable, advice } = error;
    return { message, transient: true, retryAfterMs, isUnreachable, advice };
  }
  logger.warn({ err: error, model: ref }, "model call failed unexpectedly");
  return { message: `${ref} could not be asked.`, transient: true };
}

export const withLastFailure = (limit: RunFailure, failures: readonly string[]): RunFailure => ({
  ...limit,
  message: [limit.message, ...failures.slice(-1)].join(" Last failure: "),
});

interface FailedCall {
  readonly event: ReturnType<typeof modelEvent>;
  readonly startedAtMs: number;
  readonly failedAtMs: number;
}

const failedLine = ({ event, startedAtMs, failedAtMs }: FailedCall, reason: string, then: object = {}): LogLine =>
  logLine(startedAtMs, "warn", reason, {
    type: "model_call",
    step: event.step,
    model: event.name,
    attempt: event.attempt,
    duration_ms: failedAtMs - startedAtMs,
    failed: true,
    reason: toReason(reason),
    ...then,
  });

export function createModelFailure({ records, publish, logger, now }: ModelFailureDeps): HandleModelFailure {
  const endOverdue = (run: RunInput, progress: Progress, attempt: Attempt, call: FailedCall, overdue: RunFailure) => {
    publish(run, { ...call.event, status: "failed", reason: toReason(overdue.message) });
    const lines = [
      failedLine(call, overdue.message),
      logLine(call.failedAtMs, "warn", overdue.message, { type: "limit" }),
    ];
    return records.fail(run, progress, withLastFailure(overdue, attempt.failures), [...attempt.log, ...lines]);
  };

  return async (run, progress, attempt, { error, startedAtMs }) => {
    const event = modelEvent(run, progress, attempt);
    const failedAtMs = now();
    const call = { event, startedAtMs, failedAtMs };
    const remainingMs = deadlineMs(run, progress) - failedAtMs;
    const overdue = limitReached(run, progress, remainingMs);
    if (overdue) return endOverdue(run, progress, attempt, call, overdue);
    const failure = { ...toFailure(error, event.name, logger), startedAtMs, failedAtMs };
    const next = afterFailure(run, attempt, failure, remainingMs, Math.random());
    // While it waits for the retry, the run is listed and can be cancelled.
    const isCancelled = "retry" in next && (await records.isCancelled(run));
    const retry = "retry" in next && !isCancelled ? { retry_after_ms: next.afterMs } : undefined;
    publish(run, { ...event, status: retry ? "retried" : "failed", reason: toReason(failure.message), ...retry });
    const nextModel = retry && "retry" in next && { next_model: displayModel(run, next.retry.model) };
    const log = [...attempt.log, failedLine(call, failure.message, { ...retry, ...nextModel })];
    if ("failed" in next) return records.fail(run, progress, next.failed, log);
    return isCancelled ? records.cancel(run, progress, log) : { ...next, retry: { ...next.retry, log } };
  };
}
