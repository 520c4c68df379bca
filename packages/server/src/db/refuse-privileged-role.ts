import { type Kysely, sql } from "kysely";
import { OperatorError } from "../platform/operator-error.ts";
import type { DB } from "./generated-rows.ts";

/** Row-level security does nothing for a superuser, for BYPASSRLS or for a member of the owner: do not serve as one. */
export async function refusePrivilegedRole(db: Kysely<DB>): Promise<void> {
  // Before the first migration there is no table, so the rights of its owner are unknown.
  const { rows } = await sql<{ role: string; powerful: boolean | null }>`
    select current_user as role,
           r.rolsuper or r.rolbypassrls or pg_has_role(current_user, c.relowner, 'member')
             or pg_has_role(current_user, 'perch_platform', 'member')
             or pg_has_role(current_user, 'perch_recorder', 'member') as powerful
      from pg_roles r left join pg_class c on c.oid = to_regclass('public.agents')
      where r.rolname = current_user`.execute(db);
  const [row] = rows;
  if (!row || row.powerful) {
    throw new OperatorError(
      `The role ${row?.role} can bypass row-level security. Point PERCH_DATABASE_URL at a role that is only a member of perch_app.`,
    );
  }
}
