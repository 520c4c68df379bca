import type { Connection, ConnectionStatus, RevocationResult } from "@perch/contract";
import type { Selectable } from "kysely";
import type { Connections } from "../../db/generated-rows.ts";
import { toPublicId } from "../../platform/ids.ts";

export type ConnectionRow = Selectable<Connections>;

const toTime = (time: Date | null): string | null => time?.toISOString() ?? null;

/** Without the sealed and digested columns, which no answer shows. */
export type ShownConnection = Omit<ConnectionRow, "sealed_grant" | "confirmed_digest" | "generation">;

/** Also the data of `connection.needs_reauth`. */
export const toConnection = (row: ShownConnection): Connection => ({
  id: toPublicId("connection", row.id),
  agent_id: toPublicId("agent", row.agent_id),
  user_id: row.user_id,
  tool: row.tool,
  sent_to: row.sent_to,
  status: row.status as ConnectionStatus,
  reason: row.reason,
  issuer: row.issuer,
  scopes: row.scopes,
  created_at: row.created_at.toISOString(),
  connected_at: toTime(row.connected_at),
  last_used_at: toTime(row.last_used_at),
  last_refreshed_at: toTime(row.last_refreshed_at),
  revoked_at: toTime(row.revoked_at),
  provider_revocation: row.revoked_at_provider as RevocationResult | null,
});
