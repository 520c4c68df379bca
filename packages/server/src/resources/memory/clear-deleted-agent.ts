import type { OrganisationTransaction } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { newUuid } from "../../platform/ids.ts";
import type { AddTask } from "../engine-tasks/engine-tasks.ts";
import { insertClear } from "./clear-queries.ts";

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
