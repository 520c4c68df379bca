import { sql } from "kysely";
import { sealerFor } from "../../platform/sealing.ts";
import { ofOrganisation } from "../quotas/quota-count.ts";
import type { Resource } from "../resource.ts";
import { agentHandlers } from "./agent-handlers.ts";
import { createPurgeAgents } from "./purge-agents.ts";

export const agentResource = {
  name: "agents",
  tables: {
    agents: {
      bound: "quota",
      // Settings of agents that were purged, as long as audit entries name them: 400 days, and the rest of a month, with which entries
      // are dropped.
      purge: { function: "purge_agent_settings", step: "purge_agents", keptDays: [433] },
      agent: "purge_agent",
    },
    agent_counts: { bound: "fixed" },
  },
  dataKeys: { agentAuth: sealerFor("agent auth") },
  audited: { agents: "agent" },
  quotas: {
    agents: {
      // Triggers maintain this count.
      count: (of) => sql<number>`coalesce((select agents from agent_counts where ${ofOrganisation(of)}), 0)::int`,
      reached: "This organisation has # agents",
      advice: "Delete one",
    },
  },
  handlers: agentHandlers,
  housekeeping: (deps: Parameters<typeof createPurgeAgents>[0]) => [
    { name: "purge_agents", run: createPurgeAgents(deps) },
  ],
} as const satisfies Resource;
