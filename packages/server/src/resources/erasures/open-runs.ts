import type { Database } from "../../db/database.ts";
import type { EngineRuns } from "../../engine/engine-runs.ts";
import { isSessionOfUser } from "../../engine/tasks.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import { lastUuidAt } from "../../platform/ids.ts";
import { cancelRunsOfUser, type ErasedUser, findKnownRuns } from "./user-data-queries.ts";

interface OpenRunDeps {
  readonly db: Database;
  readonly engineRuns: Pick<EngineRuns, "listOpen">;
  readonly slots: Pick<RunSlots, "listHeld">;
}

/**
 * Whether a run that may be the user's, and was accepted in time, has not ended; those that can be cancelled are. The engine does not
 * know the users of runs without a session, so one of them counts unless a record says that it is somebody else's: every run that
 * takes longer than a moment has a record. A run that holds a slot may not have reached the engine yet.
 */
export const createHasOpenRuns =
  ({ db, engineRuns, slots }: OpenRunDeps) =>
  async (user: ErasedUser): Promise<boolean> => {
    const { organisationId, userId, until } = user;
    const lastId = lastUuidAt(until);
    const held = (await slots.listHeld(organisationId)).filter((id) => id <= lastId);
    const open = (await engineRuns.listOpen(until)).filter(
      ({ sessionKey }) => sessionKey === null || isSessionOfUser(sessionKey, organisationId, userId),
    );
    const inEngine = open.map(({ id }) => id);
    const ids = [...new Set([...inEngine, ...held])];
    if (ids.length === 0) return false;
    return db.inOrganisation(organisationId, async (trx) => {
      const { ofOthers, ended } = await findKnownRuns(trx, user, ids);
      const others = new Set(ofOthers);
      // A slot may be left of a run that has ended. The engine itself still has something to do for such a run.
      const onlyHeld = new Set(ended.filter((id) => !inEngine.includes(id)));
      const left = ids.filter((id) => !others.has(id) && !onlyHeld.has(id));
      if (left.length > 0) await cancelRunsOfUser(trx, user, left);
      return left.length > 0;
    });
  };
