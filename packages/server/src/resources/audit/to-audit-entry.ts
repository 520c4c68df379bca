import type { AuditActor, AuditEntry, AuditOutcome } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import type { AuditRow } from "./audit-queries.ts";

export const toAuditEntry = (row: AuditRow): AuditEntry => ({
  id: toPublicId("audit", row.id),
  created_at: row.at.toISOString(),
  actor: row.actor as AuditActor,
  key_id: row.key_id && toPublicId("key", row.key_id),
  user_id: row.user_id,
  person: row.person,
  session_id: row.session_id && toPublicId("consoleSession", row.session_id),
  operation: row.operation,
  resource_type: row.resource_type,
  resource: row.resource,
  agent_id: row.agent_id && toPublicId("agent", row.agent_id),
  address: row.address,
  correlation_id: row.request_id,
  outcome: row.outcome as AuditOutcome,
  details: row.details as AuditEntry["details"],
});
