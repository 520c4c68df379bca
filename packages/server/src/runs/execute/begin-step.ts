import type { Database } from "../../db/database.ts";
import { isDatabaseUnavailable } from "../../db/refused-data.ts";
import type { RunInput } from "../../engine/messages.ts";
import { leaseOf, type RunSlots } from "../../limits/run-slots.ts";
import { findSession } from "../record/invocation-queries.ts";
import type { RunRecord } from "../record/run-record.ts";
import { type Attempt, type BeginResult, initialProgress } from "../run.ts";
import type { EndIfOver } from "./end-if-over.ts";
import { backoffMs, transientFailure } from "./run-rules.ts";
import type { SuspendTurnStep } from "./suspend-step.ts";

interface BeginDeps {
  readonly db: Database;
  readonly slots: Pick<RunSlots, "renew">;
  readonly records: Pick<RunRecord, "fail">;
  readonly suspendTurn: SuspendTurnStep;
  readonly endIfOver: EndIfOver;
  readonly now: () => number;
}

export interface BeginStep {
  /** The first step within a session: reads the history once the run's turn has come. */
  readonly begin: (run: RunInput, attempt: Attempt) => Promise<BeginResult>;
}

const earlierTurnWaits = transientFailure(
  "An earlier run of this session waits for a person. `GET /v1/approvals?status=open` lists what to decide. Decide, or cancel that run, and send the message again. With `approvals.while_waiting` set to `queue`, messages wait for their turn instead.",
);

/** A turn that waited for longer needs more than is left of its lease. */
const renewAfterMs = 30_000;

export const createBeginStep = ({ db, slots, records, suspendTurn, endIfOver, now }: BeginDeps): BeginStep => ({
  begin: async (run, { interrupted: _, ...attempt }) => {
    const sinceMs = attempt.sinceMs ?? now();
    const noProgress = initialProgress(sinceMs, { turn: 0, history: [] });
    try {
      return await endIfOver(run, noProgress, [], async () => {
        const found = await db.inOrganisation(run.organisationId, (trx) => findSession(trx, run));
        const { isWaiting, ...session } = found;
        const progress = initialProgress(now(), session);
        if (!isWaiting) {
          if (now() - run.acceptedAtMs > renewAfterMs)
            await slots.renew({ ...run, ...leaseOf(run.definition.limits.timeout_seconds) });
          return progress;
        }
        const isQueued = run.definition.approvals?.while_waiting === "queue";
        return isQueued ? suspendTurn(run, progress) : records.fail(run, progress, earlierTurnWaits, []);
      });
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      // A result, so that the next try knows since when the run has been trying: its time has not begun yet.
      const retry = { ...attempt, tries: attempt.tries + 1, sinceMs };
      return { retry, afterMs: backoffMs(attempt.tries, Math.random()) };
    }
  },
});
