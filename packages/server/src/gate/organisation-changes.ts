import type { Database, OrganisationTransaction } from "../db/database.ts";
import type { Logger } from "../platform/logger.ts";
import { deleteEpochChanges, insertEpochChange, listLostEpochChanges } from "./epoch-queries.ts";
import type { Gate } from "./gate.ts";

export interface OrganisationChanges {
  /** Runs a change in one transaction and replaces the organisation's epoch before it returns. */
  readonly commit: <T>(organisationId: string, work: (trx: OrganisationTransaction) => Promise<T>) => Promise<T>;
  /** Replaces epochs whose change committed while nobody lived to replace them, and forgets those that are done. */
  readonly repair: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface OrganisationChangesDeps {
  readonly db: Database;
  readonly gate: Gate;
  readonly logger: Logger;
  /** How often to repair; never, where a command ends by itself. */
  readonly repairEverySeconds?: number;
}

export function createOrganisationChanges({
  db,
  gate,
  logger,
  repairEverySeconds,
}: OrganisationChangesDeps): OrganisationChanges {
  let settled: string[] = [];

  const replace = async (organisationId: string, changeId: string): Promise<boolean> => {
    try {
      await gate.replaceEpoch(organisationId);
      settled.push(changeId);
      return true;
    } catch (error) {
      logger.debug({ err: error, organisationId }, "an epoch could not be replaced; the repair will do it");
      return false;
    }
  };

  const repairAll = async (): Promise<void> => {
    try {
      for (const change of await listLostEpochChanges(db.unscoped)) {
        // If one cannot be replaced now, neither can the next.
        if (!(await replace(change.organisation_id, change.id))) break;
      }
      const done = settled;
      settled = [];
      if (done.length > 0) await deleteEpochChanges(db.unscoped, done);
    } catch (error) {
      logger.debug({ err: error }, "epochs could not be repaired; will try again");
    }
  };

  let repairing: Promise<void> | undefined;
  const repair = (): Promise<void> => {
    repairing ??= repairAll().finally(() => {
      repairing = undefined;
    });
    return repairing;
  };

  const timer =
    repairEverySeconds === undefined ? undefined : setInterval(() => void repair(), repairEverySeconds * 1000).unref();

  return {
    commit: async (organisationId, work) => {
      const { result, changeId } = await db.inOrganisation(organisationId, async (trx) => ({
        result: await work(trx),
        changeId: await insertEpochChange(trx, organisationId),
      }));
      await replace(organisationId, changeId);
      return result;
    },
    repair,
    stop: async () => {
      clearInterval(timer);
      await repair();
    },
  };
}
