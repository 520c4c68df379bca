import { sql } from "kysely";
import { sealerFor } from "../../platform/sealing.ts";
import { countUpTo, ofOrganisation } from "../quotas/quota-count.ts";
import type { Resource } from "../resource.ts";
import { secretHandlers } from "./secret-handlers.ts";
import { createSecretMetrics } from "./secret-metrics.ts";
import { deleteSecretsOfAgent } from "./secret-queries.ts";

export const secretResource = {
  name: "secrets",
  tables: { secrets: { bound: "quota", agent: "purge_agent" } },
  dataKeys: { secrets: sealerFor("secrets") },
  audited: { secrets: "secret" },
  quotas: {
    secrets: {
      // Those of agents too.
      count: (of, max) => countUpTo([sql`select 1 from secrets where ${ofOrganisation(of)}`], max),
      reached: "This organisation has # secrets, those of its agents included",
      advice: "Delete one",
    },
  },
  onAgentDelete: deleteSecretsOfAgent,
  metrics: createSecretMetrics,
  alerts: ["PerchSecretRefusals"],
  handlers: secretHandlers,
} as const satisfies Resource;
