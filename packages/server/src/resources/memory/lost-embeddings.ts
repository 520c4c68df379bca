import { sql } from "kysely";
import type { Database } from "../../db/database.ts";
import type { Engine } from "../../engine/engine.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { ReconcileMetrics } from "../../telemetry/reconcile-metrics.ts";

export interface LostEmbeddingsDeps {
  readonly db: Pick<Database, "unscoped">;
  readonly engine: Pick<Engine, "embedMemoryOnce">;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly telemetry: Pick<ReconcileMetrics, "reconciled">;
  /** Anything younger is probably under way. */
  readonly minAgeSeconds: number;
  /** Between two ticks. */
  readonly everyMs: number;
}

interface AgentRow {
  readonly organisation_id: string;
  readonly agent_id: string;
  readonly has_unembedded: boolean;
}

/** An embedding may take longer than other work. */
const ageFactor = 5;
/** An agent's embedding is asked for once in this many ticks: an embedder that is down is tried again by the engine itself. */
const ticksPerEmbedding = 12;
const maxAgents = 5000;
const beforeAll = "00000000-0000-0000-0000-000000000000";

/**
 * Has memories embedded that were written long enough ago and have no vector. Looks at some thousand agents at a time; returns the
 * last of them, to go on after it, or null to begin again.
 */
export const createRepairEmbeddings =
  ({ db, engine, logger, nowMs, telemetry, minAgeSeconds, everyMs }: LostEmbeddingsDeps) =>
  async (after: AgentKey | null): Promise<AgentKey | null> => {
    const { organisationId, agentId } = after ?? { organisationId: beforeAll, agentId: beforeAll };
    const { rows } = await sql<AgentRow>`
      select * from list_unembedded_agents(${organisationId}, ${agentId}, make_interval(secs => ${minAgeSeconds * ageFactor}), ${maxAgents})`.execute(
      db.unscoped,
    );
    for (const row of rows.filter(({ has_unembedded }) => has_unembedded)) {
      const agent = { organisationId: row.organisation_id, agentId: row.agent_id };
      await engine.embedMemoryOnce(agent, `${agent.agentId}.${Math.floor(nowMs() / (everyMs * ticksPerEmbedding))}`);
      telemetry.reconciled("embedding", "sent");
      logger.info(
        { agentId: toPublicId("agent", agent.agentId) },
        "memories without a vector, embedding asked for again",
      );
    }
    const last = rows.at(-1);
    return last && rows.length === maxAgents ? { organisationId: last.organisation_id, agentId: last.agent_id } : null;
  };
