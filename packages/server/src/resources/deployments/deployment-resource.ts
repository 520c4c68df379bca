import { sql } from "kysely";
import { countUpTo, ofAgent } from "../quotas/quota-count.ts";
import type { Resource } from "../resource.ts";
import { deploymentHandlers } from "./deployment-handlers.ts";
import {
  createRepairCanaryWatches,
  createRepairPendingDeployments,
  type LostDeploymentsDeps,
} from "./lost-deployments.ts";
import { versionHandlers } from "./version-handlers.ts";

type Deps = Parameters<typeof deploymentHandlers>[0] & Parameters<typeof versionHandlers>[0];

export const deploymentResource = {
  name: "deployments",
  tables: {
    agent_versions: { bound: "quota", agent: "purge_agent" },
    deployments: { bound: "quota", agent: "purge_agent" },
    draft_definitions: { bound: "partitions", agent: "bound" },
  },
  audited: { deployments: "deployment", versions: "version" },
  quotas: {
    versionsPerAgent: {
      count: (of, max) => countUpTo([sql`select 1 from agent_versions where ${ofAgent(of)}`], max),
      reached: "This agent has # versions",
      advice: 'Deploy one of them with "redeploy": true, create another agent',
    },
    deploymentsPerAgent: {
      // Others make room for new ones.
      count: (of, max) => {
        const deployments = sql`select 1 from deployments where ${ofAgent(of)}`;
        return countUpTo([sql`${deployments} and status = 'active'`, sql`${deployments} and status = 'pending'`], max);
      },
      reached: "This agent has # pending and active deployments",
      advice: "Wait until pending ones have ended, create another agent for more environments",
    },
  },
  publishes: ["deployment.activated", "deployment.failed", "deployment.rolled_back"],
  handlers: (deps: Deps) => ({ ...deploymentHandlers(deps), ...versionHandlers(deps) }),
  reconcile: (deps: LostDeploymentsDeps) => [
    { name: "deployments", run: createRepairPendingDeployments(deps) },
    { name: "canaries", run: createRepairCanaryWatches(deps) },
  ],
} as const satisfies Resource;
