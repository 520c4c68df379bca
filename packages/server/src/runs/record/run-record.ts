import type { Database } from "../../db/database.ts";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { storableText } from "../../platform/storable-text.ts";
import type { LogNotifications } from "../../resources/logs/log-notifications.ts";
import type { RunStreams } from "../../streams/run-streams.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { Ended, LogLine, Progress, Recorded, Session } from "../run.ts";
import { createInsertOrMinimal } from "./insert-or-minimal.ts";
import { findInvocation, insertRunningInvocation } from "./invocation-queries.ts";
import { createInsertRunRecord } from "./record-together.ts";
import { buildRunLog } from "./run-log.ts";
import { toOutcome } from "./to-invocation.ts";

interface RunRecordDeps {
  readonly db: Database;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
  readonly logNotifications: LogNotifications;
  readonly spans: { readonly ended: (run: RunInput, outcome: RunOutcome) => void };
  readonly telemetry: Pick<Telemetry, "runEnded">;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Records runs in the database: while they run, and when they end. */
export interface RunRecord {
  readonly record: (run: RunInput, outcome: RunOutcome, session: Session, log: readonly LogLine[]) => Promise<Recorded>;
  /** `log` is what the last step adds to the progress's. */
  readonly complete: (
    run: RunInput,
    progress: Progress,
    reply: { readonly text: string; readonly tokensUsed: number },
    log: readonly LogLine[],
  ) => Promise<Ended>;
  readonly stop: (
    run: RunInput,
    progress: Progress,
    status: "failed" | "cancelled",
    error: string,
    log: readonly LogLine[],
  ) => Promise<Ended>;
  /** Also makes the run visible: who may still cancel it must be able to see it. */
  readonly isCancelled: (run: RunInput) => Promise<boolean>;
  /** Inserts the running invocation if the work takes longer than `markRunningAfterMs`. */
  readonly markRunningDuring: <T>(run: RunInput, work: () => Promise<T>) => Promise<T>;
}

const maxError = 8000;
/** Of the column. A run may wait for weeks while the engine has no worker. */
const maxDurationMs = 2 ** 31 - 1;

/** A faster run is not listed before it has ended, and needs only one transaction. */
const markRunningAfterMs = 300;

export function createRunRecord({
  db,
  slots,
  streams,
  logNotifications,
  telemetry,
  spans,
  logger,
  now,
}: RunRecordDeps): RunRecord {
  const markRunning = (run: RunInput) =>
    db.inOrganisation(run.organisationId, (trx) => insertRunningInvocation(trx, run));

  const isCancelled = async (run: RunInput): Promise<boolean> => (await markRunning(run)).cancelRequested;
  const insertRunRecord = createInsertRunRecord(db);
  const insertOrMinimal = createInsertOrMinimal({ db, insertRunRecord, isCancelled, logger, now });

  const record: RunRecord["record"] = async (run, given, session, log) => {
    const { outcome, recorded, toDeliver } = await insertOrMinimal(run, given, session, log);
    if (recorded !== "earlier") telemetry.runEnded(outcome.status, outcome.durationMs);
    // An earlier attempt recorded the run: its outcome is the one that was answered.
    const ended =
      recorded === "earlier"
        ? (toOutcome(await db.inOrganisation(run.organisationId, (trx) => findInvocation(trx, run))) ?? outcome)
        : outcome;
    spans.ended(run, ended);
    // In this order both leave in the same turn. The slot is free on every node before the client has its answer.
    const released = slots.release(run);
    logNotifications.publish(run.agentId, { run: run.id });
    await released;
    if (run.streamed) await streams.append(run.id, { type: "end" }, run);
    return { ended, toDeliver };
  };

  /** Records the run now. If the database fails, the workflow records it in a separate step. */
  const end = async (
    run: RunInput,
    outcome: RunOutcome,
    { session, log: before }: Progress,
    added: readonly LogLine[],
  ): Promise<Ended> => {
    const log = buildRunLog(run, [...before, ...added], outcome, now());
    try {
      return { ...(await record(run, outcome, session, log)), unrecorded: null };
    } catch (error) {
      logger.warn({ err: error, requestId: toPublicId("request", run.id) }, "run record failed, will retry");
      return { ended: outcome, toDeliver: [], unrecorded: log };
    }
  };

  const spent = ({ startedAtMs, costMicros }: Progress, tokensUsed: number, steps: number) => ({
    steps,
    tokensUsed,
    durationMs: Math.min(Math.max(0, Math.round(now() - startedAtMs)), maxDurationMs),
    costMicros,
  });

  return {
    record,
    complete: (run, progress, { text: response, tokensUsed }, log) =>
      end(run, { status: "completed", response, ...spent(progress, tokensUsed, progress.step) }, progress, log),
    stop: (run, progress, status, error, log) => {
      const stopped = { status, error: storableText(error, maxError) };
      return end(run, { ...stopped, ...spent(progress, progress.tokensUsed, progress.step - 1) }, progress, log);
    },
    isCancelled,
    markRunningDuring: async (run, work) => {
      const timer = setTimeout(
        () =>
          void markRunning(run).catch((error: unknown) =>
            logger.debug({ err: error, runId: run.id }, "running invocation insert failed"),
          ),
        markRunningAfterMs,
      );
      try {
        return await work();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
