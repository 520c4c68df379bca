import type { Database } from "../../db/database.ts";
import type { EngineRuns } from "../../engine/engine-runs.ts";
import { isSessionOfUser } from "../../engine/tasks.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import { lastUuidAt } from "../../platform/ids.ts";
import type { ErasedUser } from "../erasure-stage.ts";
import { cancelWaitingRunsOfUser } from "../waiting-runs/cancel-runs-of-user.ts";
import type { ContinueRuns } from "../waiting-runs/continue-runs.ts";
import { cancelRunsOfUser, findKnownRuns } from "./user-run-queries.ts";

interface OpenRunDeps {
  readonly db: Database;
  readonly engineRuns: Pick<EngineRuns, "listOpen">;
  readonly slots: Pick<RunSlots, "listHeld">;
  readonly continueRuns: Pick<ContinueRuns, "start">;
}

/** The user's runs that have not ended. */
interface OpenRuns {
  readonly inEngine: boolean;
  /**
   * Records with the status `running` or `waiting`. The engine may have lost such a run: then reconciling ends it
   * within minutes.
   */
  readonly recorded: number;
  /** How many that waited for a person were cancelled now. */
  readonly cancelled: number;
}

/** The engine's open runs are those of all organisations: a statement asks about some of them at a time. */
const askedTogether = 1000;

/**
 * Whether a run that may be the user's, and was accepted in time, has not ended. Cancels the runs that can be
 * cancelled. The engine does not know the users of runs without a session, so such a run counts unless its record names
 * another user: every run that takes longer than a moment has a record. A run that holds a slot may not have reached
 * the engine yet.
 */
export const createFindOpenRuns =
  ({ db, engineRuns, slots, continueRuns }: OpenRunDeps) =>
  async (user: ErasedUser): Promise<OpenRuns> => {
    const { organisationId, userId, until } = user;
    const lastId = lastUuidAt(until);
    const held = (await slots.listHeld(organisationId)).filter((id) => id <= lastId);
    const open = (await engineRuns.listOpen(until)).filter(
      ({ sessionKey }) => sessionKey === null || isSessionOfUser(sessionKey, organisationId, userId),
    );
    const inEngine = new Set(open.map(({ id }) => id));
    const ids = [...new Set([...inEngine, ...held])];
    const waiting = await db.inOrganisation(organisationId, (trx) => cancelWaitingRunsOfUser(trx, user));
    for (const run of waiting.ready) continueRuns.start(run);
    const { cancelled } = waiting;
    return db.inOrganisation(organisationId, async (trx) => {
      const recorded = waiting.left + (await cancelRunsOfUser(trx, user));
      for (let at = 0; at < ids.length; at += askedTogether) {
        const asked = ids.slice(at, at + askedTogether);
        const { ofOthers, ended } = await findKnownRuns(trx, user, asked);
        // A slot may be left of a run that has ended. The engine itself still has something to do for such a run.
        const settled = new Set([...ofOthers, ...ended.filter((id) => !inEngine.has(id))]);
        if (asked.some((id) => !settled.has(id))) return { inEngine: true, recorded, cancelled };
      }
      return { inEngine: false, recorded, cancelled };
    });
  };
