import type { Database, OrganisationTransaction } from "../db/database.ts";
import { Unchanged } from "../platform/change-results.ts";
import type { Logger } from "../platform/logger.ts";
import { deleteEpochChanges, insertEpochChange, listLostEpochChanges } from "./epoch-queries.ts";

export interface OrganisationChanges {
  /** Runs a change in one transaction and replaces the organisation's epoch before it returns, unless it is `Unchanged`. */
  readonly commit: <T>(organisationId: string, work: (trx: OrganisationTransaction) => Promise<T>) => Promise<T>;
  /** Replaces epochs whose change committed without it, because a process died or Valkey was down, and deletes settled changes. */
  readonly repair: () => Promise<void>;
}

interface OrganisationChangesDeps {
  readonly db: Database;
  readonly replaceEpoch: (organisationId: string) => Promise<void>;
  readonly logger: Logger;
}

export function createOrganisationChanges({ db, replaceEpoch, logger }: OrganisationChangesDeps): OrganisationChanges {
  let settled: string[] = [];

  const replace = async (organisationId: string, changeId: string): Promise<boolean> => {
    try {
      await replaceEpoch(organisationId);
      settled.push(changeId);
      return true;
    } catch (error) {
      logger.debug({ err: error, organisationId, changeId }, "epoch replacement failed, repair will retry");
      return false;
    }
  };

  const repair = async (): Promise<void> => {
    try {
      for (const change of await listLostEpochChanges(db.unscoped)) {
        // If one cannot be replaced now, neither can the next.
        if (!(await replace(change.organisation_id, change.id))) break;
      }
      const replaced = settled;
      settled = [];
      if (replaced.length > 0) await deleteEpochChanges(db.unscoped, replaced);
    } catch (error) {
      logger.debug({ err: error }, "epoch repair failed, will retry");
    }
  };

  return {
    commit: async (organisationId, work) => {
      const { result, changeId } = await db.inOrganisation(organisationId, async (trx) => {
        const worked = await work(trx);
        const epochChange = worked instanceof Unchanged ? undefined : await insertEpochChange(trx, organisationId);
        return { result: worked, changeId: epochChange };
      });
      if (changeId !== undefined) await replace(organisationId, changeId);
      return result;
    },
    repair,
  };
}
