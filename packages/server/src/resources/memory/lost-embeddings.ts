import { sql } from "kysely";
import type { Database } from "../../db/database.ts";
import type { Engine } from "../../engine/engine.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";

interface LostEmbeddingsDeps {
  readonly db: Pick<Database, "unscoped">;
  readonly engine: Pick<Engine, "embedMemoryOnce">;
  readonly logger: Logger;
  readonly now: () => number;
  readonly onRepaired: () => void;
  readonly minAgeSeconds: number;
  /** How often an agent's embedding may be asked for: an embedder that is down is tried again by the engine itself. */
  readonly onceInMs: number;
}

interface AgentRow {
  readonly organisation_id: string;
  readonly agent_id: string;
  readonly has_unembedded: boolean;
}

const maxAgents = 5000;
const beforeAll = "00000000-0000-0000-0000-000000000000";

/**
 * Has memories embedded that were written long enough ago and have no vector. Looks at some thousand agents at a time; returns the
 * last of them, to go on after it, or null to begin again.
 */
export const createRepairEmbeddings =
  ({ db, engine, logger, now, onRepaired, minAgeSeconds, onceInMs }: LostEmbeddingsDeps) =>
  async (after: AgentKey | null): Promise<AgentKey | null> => {
    const { organisationId, agentId } = after ?? { organisationId: beforeAll, agentId: beforeAll };
    const { rows } = await sql<AgentRow>`
      select * from list_unembedded_agents(${organisationId}, ${agentId}, make_interval(secs => ${minAgeSeconds}), ${maxAgents})`.execute(
      db.unscoped,
    );
    for (const row of rows.filter(({ has_unembedded }) => has_unembedded)) {
      const agent = { organisationId: row.organisation_id, agentId: row.agent_id };
      await engine.embedMemoryOnce(agent, `${agent.agentId}.${Math.floor(now() / onceInMs)}`);
      onRepaired();
      logger.info(
        { agentId: toPublicId("agent", agent.agentId) },
        "memories without a vector, embedding asked for again",
      );
    }
    const last = rows.at(-1);
    return last && rows.length === maxAgents ? { organisationId: last.organisation_id, agentId: last.agent_id } : null;
  };
