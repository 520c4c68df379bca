import type { Database } from "../../db/database.ts";
import { describeRefusedData, isDatabaseUnavailable, isDataRefused } from "../../db/refused-data.ts";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { storableText } from "../../platform/storable-text.ts";
import type { LogLine, QueuedDelivery, Session } from "../run.ts";
import { updateEnded } from "./invocation-queries.ts";
import type { InsertRunRecord } from "./record-together.ts";
import { buildMinimalLog } from "./run-log.ts";

type StoppedOutcome = Extract<RunOutcome, { readonly status: "failed" | "cancelled" }>;

/** `recorded`: now, or by an earlier attempt whose record counts, or not at all. */
interface InsertedOutcome {
  readonly outcome: RunOutcome;
  readonly recorded: "now" | "earlier" | "never";
  readonly toDeliver: readonly QueuedDelivery[];
}

interface InsertDeps {
  readonly db: Database;
  readonly insertRunRecord: InsertRunRecord;
  readonly isCancelled: (run: RunInput) => Promise<boolean>;
  readonly logger: Logger;
  readonly now: () => number;
}

const maxCount = 2 ** 31 - 1;
const countOf = (value: number | undefined): number =>
  value !== undefined && Number.isFinite(value) ? Math.min(Math.max(0, Math.round(value)), maxCount) : 0;

const countsOf = (outcome: RunOutcome) => ({
  steps: countOf(outcome.steps),
  tokensUsed: countOf(outcome.tokensUsed),
  durationMs: countOf(outcome.durationMs),
  costMicros: countOf(outcome.costMicros),
});

/** The run as it was accepted: old ones may contain texts that a request may not contain today. */
const withStorableTexts = (run: RunInput): RunInput => ({
  ...run,
  message: storableText(run.message),
  userId: run.userId && storableText(run.userId),
  sessionId: run.sessionId && storableText(run.sessionId),
});

const noSession: Session = { turn: 0, history: [] };

/**
 * Records the end of a run. Data that the database refuses would be refused again, so a minimal record is written,
 * which reports this and contains nothing from outside. Throws while the database cannot be reached, or refuses records
 * for a reason that is not in the data. Cancelling such a run ends it.
 */
export function createInsertOrMinimal({ db, insertRunRecord, isCancelled, logger, now }: InsertDeps) {
  /** The end of a run whose record failed; undefined if the same record may be accepted later. */
  const findSubstitute = async (
    run: RunInput,
    outcome: RunOutcome,
    error: unknown,
  ): Promise<StoppedOutcome | undefined> => {
    if (isDataRefused(error)) {
      const why = `The run ended, but the database refused its data: ${describeRefusedData(error)}.`;
      const failure = { status: "failed", error: why, code: "server_error", retryable: false } as const;
      return { ...failure, ...countsOf(outcome) };
    }
    if (isDatabaseUnavailable(error) || !(await isCancelled(run).catch(() => false))) return undefined;
    return { status: "cancelled", error: "The run was cancelled.", ...countsOf(outcome) };
  };

  const endWithoutRecord = async (run: RunInput, outcome: StoppedOutcome, error: unknown): Promise<InsertedOutcome> => {
    const runId = toPublicId("request", run.id);
    logger.error({ err: error, runId }, "minimal run record failed, the run ends without a record");
    await db
      .inOrganisation(run.organisationId, (trx) => updateEnded(trx, run, outcome))
      .catch((failure: unknown) => logger.error({ err: failure, runId }, "run without a record stays running"));
    return { outcome, recorded: "never", toDeliver: [] };
  };

  const insert = async (...record: Parameters<InsertRunRecord>) => {
    const [, outcome] = record;
    const { inserted, toDeliver } = await insertRunRecord(...record);
    return { outcome, recorded: inserted ? "now" : "earlier", toDeliver } satisfies InsertedOutcome;
  };

  return async (
    run: RunInput,
    outcome: RunOutcome,
    session: Session,
    log: readonly LogLine[],
    contents?: string,
  ): Promise<InsertedOutcome> => {
    try {
      return await insert(run, outcome, session, log, contents);
    } catch (error) {
      const substitute = await findSubstitute(run, outcome, error);
      if (!substitute) throw error;
      logger.error({ err: error, runId: toPublicId("request", run.id) }, "run record refused, a minimal one follows");
      const minimalLog = buildMinimalLog(run, substitute, now());
      try {
        return await insert(withStorableTexts(run), substitute, noSession, minimalLog);
      } catch (failure) {
        if (!isDataRefused(failure) && substitute.status === "failed") throw failure;
        if (isDatabaseUnavailable(failure)) throw failure;
        return endWithoutRecord(run, substitute, failure);
      }
    }
  };
}
