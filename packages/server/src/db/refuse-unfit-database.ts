import { type Kysely, sql } from "kysely";
import { healthChecks } from "../platform/health-checks.ts";
import { OperatorError } from "../platform/operator-error.ts";
import type { DB } from "./generated-rows.ts";
import { currentSchema, pendingMigrations } from "./migrate.ts";
import { refuseOldServer, serverVersionSql } from "./refuse-old-server.ts";
import { refusePrivilegedRole } from "./refuse-privileged-role.ts";

/** The database lacks objects that this release needs, and `migrate` creates them. */
export class PendingMigrations extends OperatorError {}

const maxNamed = 3;

export function refusePending(pending: readonly string[]): void {
  if (pending.length === 0) return;
  const more = pending.length > maxNamed ? ` and ${pending.length - maxNamed} more` : "";
  throw new PendingMigrations(
    `The database lacks ${pending.slice(0, maxNamed).join(", ")}${more}. ${healthChecks.migrations.advice}`,
  );
}

/** Before a process serves or works: the server is new enough, the schema is this release's, and the role has no power over it. */
export async function refuseUnfitDatabase(db: Kysely<DB>): Promise<void> {
  const { rows } = await sql.raw<{ version: number }>(serverVersionSql).execute(db);
  refuseOldServer(rows[0]?.version ?? 0);
  refusePending(await pendingMigrations(db, await currentSchema()));
  await refusePrivilegedRole(db);
}
