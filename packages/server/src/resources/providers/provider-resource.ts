import { sql } from "kysely";
import { sealerFor } from "../../platform/sealing.ts";
import { countUpTo, ofOrganisation } from "../quotas/quota-count.ts";
import type { Resource } from "../resource.ts";
import { providerHandlers } from "./provider-handlers.ts";

export const providerResource = {
  name: "providers",
  tables: { model_providers: { bound: "quota" } },
  dataKeys: { providerKeys: sealerFor("model providers") },
  audited: { providers: "provider" },
  quotas: {
    providers: {
      count: (of, max) => countUpTo([sql`select 1 from model_providers where ${ofOrganisation(of)}`], max),
      reached: "This organisation has # model providers",
      advice: "Delete one",
    },
  },
  handlers: providerHandlers,
} as const satisfies Resource;
