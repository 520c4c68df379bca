import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { newUuid } from "../../platform/ids.ts";
import type { AddTask } from "../engine-tasks/engine-tasks.ts";
import { hasOpenClear, insertClear } from "./clear-queries.ts";
import type { RunClear } from "./run-clear.ts";

/** Hides the agent's memory at once. The engine deletes the rows later. */
export async function clearDeletedAgent(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  add: AddTask,
): Promise<void> {
  const clear = { organisationId, agentId, id: newUuid() };
  await insertClear(trx, clear);
  await add({ kind: "clear_memory", ...clear });
}

const maxClearMs = 5000;

/** Clears memory that a deleted agent still has, for some seconds. Housekeeping clears the rest later. */
export const createClearLeftMemory =
  ({ db, runClear }: { readonly db: Database; readonly runClear: RunClear }) =>
  async (agent: AgentKey): Promise<void> => {
    const clear = { ...agent, id: newUuid() };
    const isNew = await db.inOrganisation(agent.organisationId, async (trx) => {
      if (await hasOpenClear(trx, agent)) return false;
      await insertClear(trx, clear);
      return true;
    });
    if (isNew) await runClear(clear, maxClearMs);
  };
