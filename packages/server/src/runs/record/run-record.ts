import type { Database } from "../../db/database.ts";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { publishRunStage } from "../../platform/run-stages.ts";
import type { Sealer } from "../../platform/sealing.ts";
import { storableText } from "../../platform/storable-text.ts";
import { logSettingOf } from "../../resources/agents/log-setting.ts";
import type { LogNotifications } from "../../resources/logs/log-notifications.ts";
import type { RunStreams } from "../../streams/run-streams.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { Ended, LogLine, Progress, Recorded, RunFailure, Session } from "../run.ts";
import { createInsertOrMinimal } from "./insert-or-minimal.ts";
import { findInvocation, insertRunningInvocation } from "./invocation-queries.ts";
import { createInsertRunRecord } from "./record-together.ts";
import { contentsOf, truncateContents, withShapes } from "./run-contents.ts";
import { buildRunLog } from "./run-log.ts";
import { sealContents } from "./seal-contents.ts";
import { toOutcome } from "./to-invocation.ts";

interface RunRecordDeps {
  readonly db: Database;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
  readonly logNotifications: LogNotifications;
  readonly spans: { readonly ended: (run: RunInput, outcome: RunOutcome) => void };
  readonly telemetry: Pick<Telemetry, "runEnded">;
  readonly runContents: Sealer;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Records runs in the database: while they run, and when they end. */
export interface RunRecord {
  /** `contents` are sealed, in base64. */
  readonly record: (
    run: RunInput,
    outcome: RunOutcome,
    session: Session,
    log: readonly LogLine[],
    contents?: string,
  ) => Promise<Recorded>;
  /** `log` has the last step's additions to the progress's log. */
  readonly complete: (
    run: RunInput,
    progress: Progress,
    reply: { readonly text: string; readonly tokensUsed: number },
    log: readonly LogLine[],
  ) => Promise<Ended>;
  readonly fail: (run: RunInput, progress: Progress, failure: RunFailure, log: readonly LogLine[]) => Promise<Ended>;
  readonly cancel: (run: RunInput, progress: Progress, log: readonly LogLine[]) => Promise<Ended>;
  /** The log so far of a run that waits, with as much of its contents as the agent's setting allows. */
  readonly shapedLog: (run: RunInput, progress: Progress) => readonly LogLine[];
  /** Also makes the run visible, because a caller that may still cancel it must be able to see it. */
  readonly isCancelled: (run: RunInput) => Promise<boolean>;
  /** Inserts the running invocation if the work takes longer than `markRunningAfterMs`. */
  readonly markRunningDuring: <T>(run: RunInput, work: () => Promise<T>) => Promise<T>;
}

const cancelled = { status: "cancelled", error: "The run was cancelled." } as const;
const maxError = 8000;
/** The maximum of the database column. A run may wait for weeks while the engine has no worker. */
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
  runContents,
  logger,
  now,
}: RunRecordDeps): RunRecord {
  const markRunning = (run: RunInput) =>
    db.inOrganisation(run.organisationId, (trx) => insertRunningInvocation(trx, run));

  const isCancelled = async (run: RunInput): Promise<boolean> => (await markRunning(run)).cancelRequested;
  const insertRunRecord = createInsertRunRecord(db);
  const insertOrMinimal = createInsertOrMinimal({ db, insertRunRecord, isCancelled, logger, now });

  const record: RunRecord["record"] = async (run, given, session, log, contents) => {
    const { outcome, recorded, toDeliver } = await insertOrMinimal(run, given, session, log, contents);
    if (recorded !== "earlier") telemetry.runEnded(outcome);
    // An earlier attempt recorded the run: its outcome is the one that was answered.
    const ended =
      recorded === "earlier"
        ? (toOutcome(await db.inOrganisation(run.organisationId, (trx) => findInvocation(trx, run))) ?? outcome)
        : outcome;
    spans.ended(run, ended);
    // In this order both leave in the same turn. The slot is free on every node before the client has its answer.
    const released = slots.release(run);
    logNotifications.publish(run.agentId, { run: run.id, after: run.linesWritten ?? 0 });
    const isFree = await released;
    publishRunStage(run.id, "slot_released");
    if (run.streamed) await streams.append(run.id, { type: "end" }, run);
    return { ended: isFree ? ended : { ...ended, slotHeldByCut: run.cut ?? 0 }, toDeliver };
  };

  /**
   * The run's log, with as much of its contents as the agent's setting allows, and the contents themselves if it is
   * `full`. A run must end whatever models and tools answered: contents that cannot be derived from that are left out.
   */
  const withContents = (
    run: RunInput,
    progress: Progress,
    added: readonly LogLine[],
  ): { readonly lines: readonly LogLine[]; readonly contents?: string } => {
    const lines = [...progress.log, ...added];
    const setting = logSettingOf(run.definition);
    if (setting === "off") return { lines };
    try {
      const contents = contentsOf(run, progress);
      const shaped = withShapes(lines, contents);
      if (setting === "shapes") return { lines: shaped };
      return { lines: shaped, contents: sealContents(runContents, truncateContents(contents), run).toString("base64") };
    } catch (error) {
      logger.error({ err: error, runId: toPublicId("request", run.id) }, "run contents left out of its record");
      return { lines };
    }
  };

  /** Records the run now. If the database fails, the workflow records it in a separate step. */
  const end = async (
    run: RunInput,
    outcome: RunOutcome,
    progress: Progress,
    added: readonly LogLine[],
  ): Promise<Ended> => {
    const { session } = progress;
    const { lines, contents } = withContents(run, progress, added);
    const log = buildRunLog(run, lines, outcome, now());
    try {
      return { ...(await record(run, outcome, session, log, contents)), unrecorded: null };
    } catch (error) {
      logger.warn({ err: error, runId: toPublicId("request", run.id) }, "run record failed, will retry");
      return { ended: outcome, toDeliver: [], unrecorded: log, ...(contents !== undefined && { contents }) };
    }
  };

  const spent = ({ startedAtMs, costMicros }: Progress, tokensUsed: number, steps: number) => ({
    steps,
    tokensUsed,
    durationMs: Math.min(Math.max(0, Math.round(now() - startedAtMs)), maxDurationMs),
    costMicros,
  });

  /** Without the step that the run stops in. */
  const spentBefore = (progress: Progress) => spent(progress, progress.tokensUsed, progress.step - 1);

  return {
    record,
    complete: (run, progress, { text: response, tokensUsed }, log) => {
      const answered = [...progress.messages, { role: "assistant", content: response } as const];
      const outcome = { status: "completed", response, ...spent(progress, tokensUsed, progress.step) } as const;
      return end(run, outcome, { ...progress, messages: answered }, log);
    },
    fail: (run, progress, { message, code, retryable }, log) => {
      const failure = { status: "failed", error: storableText(message, maxError), code, retryable } as const;
      return end(run, { ...failure, ...spentBefore(progress) }, progress, log);
    },
    cancel: (run, progress, log) => end(run, { ...cancelled, ...spentBefore(progress) }, progress, log),
    shapedLog: (run, progress) => withContents(run, progress, []).lines,
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
