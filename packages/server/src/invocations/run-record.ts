import type { Database } from "../db/database.ts";
import type { RunSlots } from "../gate/run-slots.ts";
import { toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import { storableText } from "../platform/storable-text.ts";
import type { RunStreams } from "../streams/run-streams.ts";
import { findInvocation, recordRun, showRunning } from "./invocation-queries.ts";
import type { Ended, Progress, RunInput, RunOutcome, Session } from "./run.ts";
import { toOutcome } from "./to-invocation.ts";

interface RunRecordDeps {
  readonly db: Database;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
  readonly logger: Logger;
  readonly now: () => number;
}

/** What the database knows of a run, and how a run ends. */
export interface RunRecord {
  readonly record: (run: RunInput, outcome: RunOutcome, session: Session) => Promise<RunOutcome>;
  readonly complete: (run: RunInput, progress: Progress, response: string, tokens: number) => Promise<Ended>;
  readonly stop: (run: RunInput, progress: Progress, status: "failed" | "cancelled", error: string) => Promise<Ended>;
  /** Also makes the run visible: who may still cancel it must be able to see it. */
  readonly isCancelled: (run: RunInput) => Promise<boolean>;
  /** A run whose work takes longer than a moment can be seen while it lasts. */
  readonly shownWhile: <T>(run: RunInput, work: () => Promise<T>) => Promise<T>;
}

const mostError = 8000;

/** A run that is quicker than this is in nobody's list before it has ended: one transaction is enough for it. */
const shownAfterMs = 300;

export function createRunRecord({ db, slots, streams, logger, now }: RunRecordDeps): RunRecord {
  const show = (run: RunInput) => db.inOrganisation(run.organisationId, (trx) => showRunning(trx, run));

  const record: RunRecord["record"] = async (run, outcome, session) => {
    const row = await recordRun(db.unscoped, run, outcome, session);
    // No row: an earlier attempt got this far, and what it wrote is what was answered.
    const recorded = row
      ? outcome
      : (toOutcome(await db.inOrganisation(run.organisationId, (trx) => findInvocation(trx, run))) ?? outcome);
    await slots.release(run.organisationId, run.agentId, run.id);
    if (run.streamed) await streams.append(run.id, { type: "end" });
    return recorded;
  };

  /** Records at once where the database answers; where it does not, the workflow records in a step of its own. */
  const end = async (run: RunInput, outcome: RunOutcome, session: Session): Promise<Ended> => {
    try {
      return { ended: await record(run, outcome, session), recorded: true };
    } catch (error) {
      logger.warn(
        { err: error, requestId: toPublicId("request", run.id) },
        "a run could not be recorded at once; it will be",
      );
      return { ended: outcome, recorded: false };
    }
  };

  const spent = ({ startedAtMs }: Progress, tokensUsed: number, steps: number) => ({
    steps,
    tokensUsed,
    durationMs: Math.max(0, Math.round(now() - startedAtMs)),
  });

  return {
    record,
    complete: (run, progress, response, tokens) =>
      end(run, { status: "completed", response, ...spent(progress, tokens, progress.step) }, progress.session),
    stop: (run, progress, status, error) =>
      end(
        run,
        { status, error: storableText(error, mostError), ...spent(progress, progress.tokensUsed, progress.step - 1) },
        progress.session,
      ),
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
