import type { OrganisationTransaction } from "../../db/database.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ClearKey } from "../../engine/messages.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { newUuid } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { insertClear } from "./clear-queries.ts";

interface ClearDeps {
  readonly engine: Pick<Engine, "clearMemory">;
  readonly logger: Logger;
}

/** Hides the agent's memory at once. Returns what starts deleting the rows, for after the commit. */
export function createClearDeletedAgent({ engine, logger }: ClearDeps) {
  /** Does not wait. If the engine cannot be reached, housekeeping deletes the rows later. */
  const start = (clear: ClearKey): void => {
    engine
      .clearMemory(clear)
      .catch((error: unknown) =>
        logger.warn(
          { err: error, agentId: clear.agentId, clearId: clear.id },
          "memory clear of deleted agent not started, left to housekeeping",
        ),
      );
  };

  return async (trx: OrganisationTransaction, { organisationId, agentId }: AgentKey): Promise<() => void> => {
    const clear = { organisationId, agentId, id: newUuid() };
    await insertClear(trx, clear);
    return () => start(clear);
  };
}
