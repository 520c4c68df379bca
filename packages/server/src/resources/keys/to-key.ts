import type { ApiKey, Permission, Role } from "@perch/contract";
import { keyStatus } from "../../auth/presented-key.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { KeyRow } from "./key-queries.ts";

export const toKey = (row: KeyRow, now: Date): ApiKey => ({
  id: toPublicId("key", row.id),
  name: row.name,
  agent_id: row.agent_id && toPublicId("agent", row.agent_id),
  role: row.role as Role | null,
  permissions: row.permissions as Permission[],
  prefix: row.prefix,
  status: keyStatus(row, now),
  created_by: row.created_by && toPublicId("key", row.created_by),
  rotated_from: row.rotated_from && toPublicId("key", row.rotated_from),
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
  last_used_at: row.last_used_at?.toISOString() ?? null,
  revoked_at: row.revoked_at?.toISOString() ?? null,
});
