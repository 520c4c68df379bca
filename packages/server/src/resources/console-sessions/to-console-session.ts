import type { ConsoleSession, Permission, Role } from "@perch/contract";
import { personPermissions } from "../../auth/presented-session.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { ConsoleSessionRow } from "./console-session-queries.ts";

const permissionsOf = ({ key_permissions, role, may_approve }: ConsoleSessionRow): Permission[] =>
  (key_permissions as Permission[] | null) ?? personPermissions(role as Role, may_approve);

export const toConsoleSession = (row: ConsoleSessionRow, currentId: string | undefined): ConsoleSession => ({
  id: toPublicId("consoleSession", row.id),
  current: row.id === currentId,
  key_id: row.key_id && toPublicId("key", row.key_id),
  person: row.subject === null ? null : { subject: row.subject, name: row.person_name, email: row.email },
  role: row.role as Role | null,
  permissions: permissionsOf(row),
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
  address: row.address,
  user_agent: row.user_agent,
});
