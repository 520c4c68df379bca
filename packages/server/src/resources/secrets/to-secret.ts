import type { Secret } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import type { SecretRow } from "./secret-queries.ts";

/** Field by field, so that nothing sealed can slip into an answer. */
export const toSecret = (row: SecretRow): Secret => ({
  name: row.name,
  agent_id: row.agent_id && toPublicId("agent", row.agent_id),
  hosts: row.hosts,
  approval: row.approval as Secret["approval"],
  created_by: row.created_by && toPublicId("key", row.created_by),
  created_at: row.created_at.toISOString(),
  updated_by: row.updated_by && toPublicId("key", row.updated_by),
  updated_at: row.updated_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
});
