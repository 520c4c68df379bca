import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../db/database.ts";
import type { RunInput } from "../../engine/messages.ts";
import { batchWhileBusy } from "../../fairness/batch-while-busy.ts";
import { ShareRefusal } from "../../fairness/shares.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { insertRunningInvocations } from "../record/invocation-queries.ts";

/** Writes the row of an accepted run, so that the client can read it. Never throws: the engine has the run already. */
export type MakeVisible = (run: RunInput) => Promise<void>;

/** A burst of runs must not fill its organisation's share of transactions, which its other requests need too. */
const batches = {
  maxRequests: 64,
  maxChars: 1024 * 1024,
  charsOf: ({ message }: RunInput) => message.length,
  maxCalls: 1,
};

const maxAttempts = 15;
const retryMs = 1500;

export function createMakeVisible(db: Pick<Database, "inOrganisation">, logger: Logger): MakeVisible {
  /** Organisations that have runs to make visible right now. */
  const open = new Map<string, { users: number; readonly insert: (run: RunInput) => Promise<void> }>();

  /**
   * The client was promised a run that it can read, so if the organisation's share is in use the insert waits for
   * another turn.
   */
  const insertAll = async (organisationId: string, runs: readonly RunInput[]): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await db.inOrganisation(organisationId, (trx) => insertRunningInvocations(trx, runs));
      } catch (error) {
        if (!(error instanceof ShareRefusal) || attempt === maxAttempts) throw error;
        await sleep(retryMs * (0.5 + Math.random()));
      }
    }
  };

  const openFor = (organisationId: string) => {
    const found = open.get(organisationId);
    if (found) return found;
    const insert = batchWhileBusy<RunInput, void>(async (batch) => {
      await insertAll(
        organisationId,
        batch.map(({ request }) => request),
      );
      for (const { resolve } of batch) resolve();
    }, batches);
    const opened = { users: 0, insert };
    open.set(organisationId, opened);
    return opened;
  };

  return async (run) => {
    const batch = openFor(run.organisationId);
    batch.users++;
    try {
      await batch.insert(run);
    } catch (error) {
      // A database that does not answer now must not turn an accepted run into an error.
      logger.warn({ err: error, runId: toPublicId("request", run.id) }, "accepted run not visible yet");
    } finally {
      batch.users--;
      if (batch.users === 0) open.delete(run.organisationId);
    }
  };
}
