import type { Database } from "../db/database.ts";
import type { RunSlots } from "../gate/run-slots.ts";
import { type ModelReply, PermanentModelError } from "../models/model.ts";
import type { FindModel } from "../models/models.ts";
import { toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import { findInvocation, findSession, recordRun, showRunning } from "./invocation-queries.ts";
import { beginning, type Progress, type RunInput, type RunOutcome, type Session, type StepResult } from "./run.ts";
import { afterReply, limitReached, messagesFor, storable } from "./run-rules.ts";
import { toOutcome } from "./to-invocation.ts";

interface RunStepsDeps {
  readonly db: Database;
  readonly findModel: FindModel;
  readonly slots: RunSlots;
  readonly logger: Logger;
  readonly now: () => number;
}

/** What the steps of a run do. The workflow decides which comes next; the engine keeps what they return. */
export interface RunSteps {
  /** The first step within a session: its turn has come, and what was said before is known. */
  readonly begin: (run: RunInput) => Promise<Progress>;
  readonly model: (run: RunInput, progress: Progress) => Promise<StepResult>;
  readonly record: (run: RunInput, outcome: RunOutcome, session: Session) => Promise<RunOutcome>;
}

/** A run that is quicker than this is in nobody's list before it has ended: one transaction is enough for it. */
const shownAfterMs = 300;

export function createRunSteps({ db, findModel, slots, logger, now }: RunStepsDeps): RunSteps {
  const inOrganisation = db.inOrganisation;

  const record: RunSteps["record"] = async (run, outcome, session) => {
    const row = await recordRun(db.unscoped, run, outcome, session);
    // No row: an earlier attempt got this far, and what it wrote is what was answered.
    const recorded = row
      ? outcome
      : (toOutcome(await inOrganisation(run.organisationId, (trx) => findInvocation(trx, run))) ?? outcome);
    await slots.release(run.organisationId, run.agentId, run.id);
    return recorded;
  };

  /** Records at once where the database answers; where it does not, the workflow records in a step of its own. */
  const end = async (run: RunInput, outcome: RunOutcome, session: Session): Promise<StepResult> => {
    try {
      return { ended: await record(run, outcome, session), session, recorded: true };
    } catch (error) {
      logger.warn(
        { err: error, requestId: toPublicId("request", run.id) },
        "a run could not be recorded at once; it will be",
      );
      return { ended: outcome, session, recorded: false };
    }
  };

  const callModel = async (run: RunInput, progress: Progress, remainingMs: number): Promise<ModelReply> => {
    const shown = setTimeout(() => {
      inOrganisation(run.organisationId, (trx) => showRunning(trx, run)).catch((error: unknown) =>
        logger.debug({ err: error }, "a run could not be shown"),
      );
    }, shownAfterMs);
    try {
      return await findModel(run.definition.model)({
        requestId: toPublicId("request", run.id),
        step: progress.step,
        messages: messagesFor(run, progress),
        temperature: run.definition.temperature,
        instructions: run.definition.instructions,
        signal: AbortSignal.timeout(remainingMs),
      });
    } finally {
      clearTimeout(shown);
    }
  };

  const isCancelled = async (run: RunInput): Promise<boolean> =>
    (await inOrganisation(run.organisationId, (trx) => showRunning(trx, run))).cancelRequested;

  const model: RunSteps["model"] = async (run, progress) => {
    const { startedAtMs, session } = progress;
    const deadlineMs = startedAtMs + run.definition.limits.timeout_seconds * 1000;
    const spent = (tokensUsed: number, steps: number) => ({
      steps,
      tokensUsed,
      durationMs: Math.max(0, Math.round(now() - startedAtMs)),
    });
    const stop = (status: "failed" | "cancelled", error: string) =>
      end(run, { status, error, ...spent(progress.tokensUsed, progress.step - 1) }, session);
    const cancelled = () => stop("cancelled", "The run was cancelled.");

    if ((progress.step > 1 || run.sessionId !== null) && (await isCancelled(run))) return cancelled();
    const limit = limitReached(run, progress, deadlineMs - now());
    if (limit) return stop("failed", limit);
    let reply: ModelReply;
    try {
      reply = storable(await callModel(run, progress, deadlineMs - now()));
    } catch (error) {
      if (error instanceof PermanentModelError) return stop("failed", error.message);
      const overdue = limitReached(run, progress, deadlineMs - now());
      if (overdue) return stop("failed", overdue);
      // It will be tried again: until then it can be seen and cancelled.
      if (await isCancelled(run)) return cancelled();
      throw error;
    }
    const next = afterReply(progress, reply);
    if (reply.toolCalls.length > 0) return { next };
    return end(run, { status: "completed", response: reply.text, ...spent(next.tokensUsed, progress.step) }, session);
  };

  const begin: RunSteps["begin"] = async (run) =>
    beginning(now(), await inOrganisation(run.organisationId, (trx) => findSession(trx, run)));

  return { begin, model, record };
}
