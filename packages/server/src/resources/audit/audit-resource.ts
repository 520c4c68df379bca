import type { Resource } from "../resource.ts";
import { auditHandlers } from "./audit-handlers.ts";
import { createAuditMetrics } from "./audit-metrics.ts";
import { eraseAudit } from "./erase-audit.ts";

export const auditResource = {
  name: "audit log",
  tables: {
    audit_log: {
      bound: "partitions",
      agent: "bound",
      users: {
        user_id: { by: "erase_audit_entries" },
        session_id: { kept: "a session of the console" },
        person: { kept: "a person who signs in to the console, not a user of an agent" },
      },
    },
  },
  erasure: {
    stages: () => [eraseAudit],
    receipt: { audit_entries: { store: "database", data: "audit entries", action: "redacted" } },
  },
  metrics: createAuditMetrics,
  alerts: ["PerchAuditRefusalsDropped"],
  handlers: auditHandlers,
} as const satisfies Resource;
