import { type Kysely, sql } from "kysely";
import type { DB } from "../../db/generated-rows.ts";
import { inDays, maxPurgeMs, purgedTogether } from "../../db/purge.ts";
import { isDatabaseUnavailable } from "../../db/refused-data.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { Logger } from "../../platform/logger.ts";

/** For how many days a deleted agent is kept. docs/operations/capacity.md has it too. */
export const keptDays = 30;
const maxListedAgents = 5000;

interface PurgeAgentsDeps {
  readonly db: { readonly unscoped: Kysely<DB> };
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** Deletes memories that were left behind, or some of them. */
  readonly clearMemory: (agent: AgentKey) => Promise<void>;
  readonly onPurged: (table: string, rows: number) => void;
}

async function listAgentsToPurge(db: Kysely<DB>): Promise<AgentKey[]> {
  const { rows } = await sql<{ organisation_id: string; id: string }>`
    select * from list_agents_to_purge(${inDays(keptDays)}, ${maxListedAgents})`.execute(db);
  return rows.map(({ organisation_id, id }) => ({ organisationId: organisation_id, agentId: id }));
}

interface PurgedAgent {
  readonly outcome: "done" | "more" | "has_runs" | "has_memory" | "skipped";
  /** Rows by table. */
  readonly purged: Readonly<Record<string, number>>;
}

async function purgeAgent(db: Kysely<DB>, { organisationId, agentId }: AgentKey): Promise<PurgedAgent> {
  const { rows } = await sql<PurgedAgent>`
    select * from purge_agent(${organisationId}, ${agentId}, ${inDays(keptDays)}, ${purgedTogether})`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("purge_agent returned no row");
  return row;
}

/** A step of housekeeping that deletes agents with all that they owned, in small transactions and for some seconds at most. */
export function createPurgeAgents({ db, logger, nowMs, clearMemory, onPurged }: PurgeAgentsDeps): () => Promise<void> {
  const purgeWhole = async (agent: AgentKey, until: number): Promise<void> => {
    for (;;) {
      const { outcome, purged } = await purgeAgent(db.unscoped, agent);
      for (const [table, rows] of Object.entries(purged)) onPurged(table, rows);
      if (outcome === "has_memory") await clearMemory(agent);
      if (outcome !== "more" || nowMs() >= until) return;
    }
  };
  return async () => {
    const until = nowMs() + maxPurgeMs;
    for (const agent of await listAgentsToPurge(db.unscoped)) {
      if (nowMs() >= until) return;
      try {
        await purgeWhole(agent, until);
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        // One agent must delay neither the others nor the steps after this one.
        logger.error({ err: error, ...agent }, "deleted agent not purged, tried again with the next housekeeping");
      }
    }
  };
}
