import { sql } from "kysely";
import { digestFor } from "../../platform/sealing.ts";
import { countUpTo, ofOrganisation } from "../quotas/quota-count.ts";
import type { Resource } from "../resource.ts";
import { keyHandlers } from "./key-handlers.ts";
import { findAgentOfKey, updateAgentKeysRevokedAt } from "./key-queries.ts";

export const keyResource = {
  name: "keys",
  tables: {
    api_keys: {
      bound: "quota",
      // That were revoked, or have expired.
      purge: { function: "purge_api_keys", step: "purge_keys", keptDays: [90] },
      agent: "purge_agent",
    },
  },
  dataKeys: { keyDigest: digestFor("api key digest") },
  audited: { keys: "key" },
  agentOf: { key: findAgentOfKey },
  quotas: {
    keys: {
      // Those that work.
      count: (of, max) => {
        const unrevoked = sql`select 1 from api_keys where ${ofOrganisation(of)} and revoked_at is null`;
        return countUpTo([sql`${unrevoked} and expires_at is null`, sql`${unrevoked} and expires_at > now()`], max);
      },
      reached: "This organisation has # active API keys",
      advice: "Revoke one",
    },
  },
  onAgentDelete: updateAgentKeysRevokedAt,
  handlers: keyHandlers,
} as const satisfies Resource;
