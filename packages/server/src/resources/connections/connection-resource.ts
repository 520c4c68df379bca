import { sql } from "kysely";
import { createConnectionTokens } from "../../auth/connection-token.ts";
import { digestFor, sealerFor } from "../../platform/sealing.ts";
import { ofOrganisation } from "../quotas/quota-count.ts";
import type { Resource } from "../resource.ts";
import { connectionHandlers } from "./connection-handlers.ts";
import { createConnectionGauges, createConnectionMetrics } from "./connection-metrics.ts";
import { createEraseConnections, eraseConnectionEvents } from "./erase-connections.ts";
import { createFinishRevocations, type FinishDeps } from "./finish-revocations.ts";

export const connectionResource = {
  name: "connections",
  tables: {
    // First: a connection has at most one.
    connection_links: {
      bound: "purge",
      purge: { function: "purge_connection_links", step: "purge_connections", keptDays: [] },
    },
    connections: {
      bound: "quota",
      // Revoked ones; and unconfirmed ones, after their last link, which lasts for minutes.
      purge: { function: "purge_connections", keptDays: [30, 1] },
      agent: "purge_agent",
      users: { user_id: { by: "connections" } },
    },
    connection_counts: { bound: "fixed" },
    oauth_clients: { bound: "fixed", agent: "purge_agent" },
  },
  dataKeys: {
    /** Tokens of connected accounts, clients that were registered for them, and the state of a consent under way. */
    connectionGrants: sealerFor("connections"),
    /** Digests links, states, cookies and codes of a consent. */
    connectionDigest: digestFor("connection digests"),
    connectionTokens: { purpose: "connection links", create: createConnectionTokens },
  },
  audited: { connections: "connection" },
  quotas: {
    connections: {
      // Triggers maintain this count, in at most 16 rows.
      count: (of) =>
        sql<number>`coalesce((select sum(connections) from connection_counts where ${ofOrganisation(of)}), 0)::int`,
      reached: "This organisation has # connections of users, those that were revoked in the last 30 days included",
      advice: "Delete agents or erase users that are gone",
    },
  },
  publishes: ["connection.needs_reauth"],
  erasure: {
    stages: (deps: Parameters<typeof createEraseConnections>[0]) => [
      createEraseConnections(deps),
      eraseConnectionEvents,
    ],
    receipt: { connections: { store: "database", data: "connected accounts", action: "deleted" } },
  },
  metrics: createConnectionMetrics,
  gauges: createConnectionGauges,
  alerts: ["PerchConnectionsNotRefreshed"],
  handlers: connectionHandlers,
  housekeeping: (deps: FinishDeps) => {
    const { revocations, ofDeletedAgents } = createFinishRevocations(deps);
    return [
      { name: "revoke_connections", run: revocations },
      { name: "connections_of_deleted_agents", run: ofDeletedAgents },
    ];
  },
} as const satisfies Resource;
