import { type Kysely, sql } from "kysely";
import type { AgentKey } from "../platform/agent-key.ts";
import type { Logger } from "../platform/logger.ts";
import type { DB } from "./generated-rows.ts";
import { isDatabaseUnavailable } from "./refused-data.ts";

/** For how many days what nothing needs any more is kept. docs/operations/capacity.md has them too. */
export const keptDays = {
  deletedAgents: 30,
  /** As long as audit entries name the agent: 400 days, and the rest of a month, with which entries are dropped. */
  settingsOfDeletedAgents: 433,
  endedKeys: 90,
  endedClears: 30,
  endedReleases: 90,
  /** The audit log says who signed in. */
  endedConsoleSessions: 1,
  /** The record of their run is kept for as long. */
  decidedApprovals: 30,
  revokedConnections: 30,
  /** After their last link, which lasts for minutes. */
  pendingConnections: 1,
  /** As long as the audit log. */
  erasures: 400,
} as const;
const keptReleases = 100;

/** Whose rows are deleted one by one, and counted. All other tables that grow have partitions, which are dropped whole. */
export const purgedTables = [
  "agent_versions",
  "agents",
  "api_keys",
  "approvals",
  "connection_links",
  "connections",
  "console_sessions",
  "deployments",
  "memory_clears",
  "memory_counts",
  "releases",
  "secrets",
  "webhooks",
] as const;
export type PurgedTable = (typeof purgedTables)[number];

/** What one transaction deletes, and how long one step of housekeeping goes on. What it leaves, the next one does. */
const batchRows = 1000;
const maxStepMs = 20_000;
const maxListedAgents = 5000;

interface PurgeOptions {
  readonly db: Kysely<DB>;
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** Deletes memories that were left behind, or some of them. */
  readonly clearMemory: (agent: AgentKey) => Promise<void>;
  readonly onPurged: (table: PurgedTable, rows: number) => void;
}

export interface Purge {
  readonly agents: () => Promise<void>;
  readonly keys: () => Promise<void>;
  readonly consoleSessions: () => Promise<void>;
  readonly clears: () => Promise<void>;
  readonly approvals: () => Promise<void>;
  readonly connections: () => Promise<void>;
  readonly releases: () => Promise<void>;
}

const days = (count: number) => sql`make_interval(days => ${count})`;

async function listAgentsToPurge(db: Kysely<DB>): Promise<AgentKey[]> {
  const { rows } = await sql<{ organisation_id: string; id: string }>`
    select * from list_agents_to_purge(${days(keptDays.deletedAgents)}, ${maxListedAgents})`.execute(db);
  return rows.map(({ organisation_id, id }) => ({ organisationId: organisation_id, agentId: id }));
}

interface PurgedAgent {
  readonly outcome: "done" | "more" | "has_runs" | "has_memory" | "skipped";
  readonly purged: Partial<Record<PurgedTable, number>>;
}

async function purgeAgent(db: Kysely<DB>, { organisationId, agentId }: AgentKey): Promise<PurgedAgent> {
  const { rows } = await sql<PurgedAgent>`
    select * from purge_agent(${organisationId}, ${agentId}, ${days(keptDays.deletedAgents)}, ${batchRows})`.execute(
    db,
  );
  const [row] = rows;
  if (!row) throw new Error("purge_agent returned no row");
  return row;
}

/**
 * Deletes what nothing needs any more, in small transactions and for some seconds at most. Safe to run concurrently. Its cost
 * follows what is due, not what is stored.
 */
export function createPurge({ db, logger, nowMs, clearMemory, onPurged }: PurgeOptions): Purge {
  /** Calls a function that deletes up to `batchRows` rows and returns how many, until it finds no more. */
  const inBatches = async (table: PurgedTable, deleteBatch: ReturnType<typeof sql<{ rows: number }>>) => {
    const until = nowMs() + maxStepMs;
    for (;;) {
      const { rows } = await deleteBatch.execute(db);
      const deleted = rows[0]?.rows ?? 0;
      onPurged(table, deleted);
      if (deleted < batchRows || nowMs() >= until) return;
    }
  };

  const purgeWhole = async (agent: AgentKey, until: number): Promise<void> => {
    for (;;) {
      const { outcome, purged } = await purgeAgent(db, agent);
      for (const table of purgedTables) onPurged(table, purged[table] ?? 0);
      if (outcome === "has_memory") await clearMemory(agent);
      if (outcome !== "more" || nowMs() >= until) return;
    }
  };

  const agents = async (): Promise<void> => {
    const until = nowMs() + maxStepMs;
    for (const agent of await listAgentsToPurge(db)) {
      if (nowMs() >= until) return;
      try {
        await purgeWhole(agent, until);
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        // One agent must hold up neither the others nor the steps after this one.
        logger.error({ err: error, ...agent }, "deleted agent not purged, tried again with the next housekeeping");
      }
    }
    await inBatches(
      "agents",
      sql`select purge_agent_settings(${days(keptDays.settingsOfDeletedAgents)}, ${batchRows}) as rows`,
    );
  };

  return {
    agents,
    keys: () => inBatches("api_keys", sql`select purge_api_keys(${days(keptDays.endedKeys)}, ${batchRows}) as rows`),
    consoleSessions: () =>
      inBatches(
        "console_sessions",
        sql`select purge_console_sessions(${days(keptDays.endedConsoleSessions)}, ${batchRows}) as rows`,
      ),
    clears: () =>
      inBatches("memory_clears", sql`select purge_clears(${days(keptDays.endedClears)}, ${batchRows}) as rows`),
    approvals: () =>
      inBatches("approvals", sql`select purge_approvals(${days(keptDays.decidedApprovals)}, ${batchRows}) as rows`),
    connections: async () => {
      await inBatches("connection_links", sql`select purge_connection_links(${batchRows}) as rows`);
      await inBatches(
        "connections",
        sql`select purge_connections(${days(keptDays.revokedConnections)}, ${days(keptDays.pendingConnections)}, ${batchRows}) as rows`,
      );
    },
    releases: () =>
      inBatches(
        "releases",
        sql`select purge_releases(${days(keptDays.endedReleases)}, ${keptReleases}, ${batchRows}) as rows`,
      ),
  };
}
