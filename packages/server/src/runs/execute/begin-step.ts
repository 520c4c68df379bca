import type { Database } from "../../db/database.ts";
import { isDatabaseUnavailable } from "../../db/refused-data.ts";
import type { RunInput } from "../../engine/messages.ts";
import { findSession } from "../record/invocation-queries.ts";
import { type Attempt, type BeginResult, initialProgress } from "../run.ts";
import type { EndIfOver } from "./end-if-over.ts";
import { backoffMs } from "./run-rules.ts";

interface BeginDeps {
  readonly db: Database;
  readonly endIfOver: EndIfOver;
  readonly now: () => number;
}

export interface BeginStep {
  /** The first step within a session: reads the history once the run's turn has come. */
  readonly begin: (run: RunInput, attempt: Attempt) => Promise<BeginResult>;
}

export const createBeginStep = ({ db, endIfOver, now }: BeginDeps): BeginStep => ({
  begin: async (run, { interrupted: _, ...attempt }) => {
    const sinceMs = attempt.sinceMs ?? now();
    const noProgress = initialProgress(sinceMs, { turn: 0, history: [] });
    try {
      return await endIfOver(run, noProgress, [], async () =>
        initialProgress(now(), await db.inOrganisation(run.organisationId, (trx) => findSession(trx, run))),
      );
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      // A result, so that the next try knows since when the run has been trying: its time has not begun yet.
      const retry = { ...attempt, tries: attempt.tries + 1, sinceMs };
      return { retry, afterMs: backoffMs(attempt.tries, Math.random()) };
    }
  },
});
