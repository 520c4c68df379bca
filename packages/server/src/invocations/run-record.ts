import type { Database } from "../db/database.ts";
import type { RunSlots } from "../gate/run-slots.ts";
import type { LogNews } from "../logs/log-news.ts";
import { toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import { storableText } from "../platform/storable-text.ts";
import type { RunStreams } from "../streams/run-streams.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { findInvocation, recordRun, showRunning } from "./invocation-queries.ts";
import type { Ended, LogLine, Progress, Recorded, RunInput, RunOutcome, Session } from "./run.ts";
import { wholeLog } from "./run-log.ts";
import type { RunSpans } from "./run-spans.ts";
import { toOutcome } from "./to-invocation.ts";

interface RunRecordDeps {
  readonly db: Database;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
  readonly news: LogNews;
  readonly spans: RunSpans;
  readonly telemetry: Pick<Telemetry, "runEnded">;
  readonly logger: Logger;
  readonly now: () => number;
}

/** What the database knows of a run, and how a run ends. */
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
  /** A run whose work takes longer than a moment can be seen while it lasts. */
  readonly shownWhile: <T>(run: RunInput, work: () => Promise<T>) => Promise<T>;
}

const mostError = 8000;

/** A run that is quicker than this is in nobody's list before it has ended: one transaction is enough for it. */
const shownAfterMs = 300;

export function createRunRecord({ db, slots, streams, news, telemetry, spans, logger, now }: RunRecordDeps): RunRecord {
  const show = (run: RunInput) => db.inOrganisation(run.organisationId, (trx) => showRunning(trx, run));

  const record: RunRecord["record"] = async (run, outcome, session, log) => {
    const { newly, toDeliver } = await recordRun(db.unscoped, run, outcome, session, log);
    if (newly) telemetry.runEnded(outcome.status, outcome.durationMs);
    // Not newly: an earlier attempt got this far, and what it wrote is what was answered.
    const ended = newly
      ? outcome
      : (toOutcome(await db.inOrganisation(run.organisationId, (trx) => findInvocation(trx, run))) ?? outcome);
    spans.ended(run, ended);
    await slots.release(run.organisationId, run.agentId, run.id);
    news.publish(run.agentId, { run: run.id });
    if (run.streamed) await streams.append(run.id, { type: "end" });
    return { ended, toDeliver };
  };

  /** Records at once where the database answers; where it does not, the workflow records in a step of its own. */
  const end = async (
    run: RunInput,
    outcome: RunOutcome,
    { session, log: before }: Progress,
    added: readonly LogLine[],
  ): Promise<Ended> => {
    const log = wholeLog(run, [...before, ...added], outcome, now());
    try {
      return { ...(await record(run, outcome, session, log)), unrecorded: null };
    } catch (error) {
      logger.warn(
        { err: error, requestId: toPublicId("request", run.id) },
        "a run could not be recorded at once; it will be",
      );
      return { ended: outcome, toDeliver: [], unrecorded: log };
    }
  };

  const spent = ({ startedAtMs, costMicros }: Progress, tokensUsed: number, steps: number) => ({
    steps,
    tokensUsed,
    durationMs: Math.max(0, Math.round(now() - startedAtMs)),
    costMicros,
  });

  return {
    record,
    complete: (run, progress, { text: response, tokensUsed }, log) =>
      end(run, { status: "completed", response, ...spent(progress, tokensUsed, progress.step) }, progress, log),
    stop: (run, progress, status, error, log) => {
      const told = { status, error: storableText(error, mostError) };
      return end(run, { ...told, ...spent(progress, progress.tokensUsed, progress.step - 1) }, progress, log);
    },
    isCancelled: async (run) => (await show(run)).cancelRequested,
    shownWhile: async (run, work) => {
      const shown = setTimeout(
        () => void show(run).catch((error: unknown) => logger.debug({ err: error }, "a run could not be shown")),
        shownAfterMs,
      );
      try {
        return await work();
      } finally {
        clearTimeout(shown);
      }
    },
  };
}
