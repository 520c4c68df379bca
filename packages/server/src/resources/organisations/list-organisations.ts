import type { Tier } from "@perch/contract";
import { type Kysely, sql } from "kysely";
import type { DB } from "../../db/generated-rows.ts";
import { toPublicId } from "../../platform/ids.ts";
import { OperatorError } from "../../platform/operator-error.ts";

export interface ListedOrganisation {
  readonly id: string;
  readonly name: string;
  readonly tier: Tier;
  readonly created_at: string;
  readonly agents: number;
  /** Neither revoked nor expired. */
  readonly keys: number;
}

interface Row extends Omit<ListedOrganisation, "created_at"> {
  readonly created_at: Date;
}

/** Any other role sees no organisation, and an empty list would be wrong. */
async function refuseOtherRole(db: Kysely<DB>): Promise<void> {
  const { rows } = await sql<{ role: string; isOwner: boolean }>`
    select current_user as role, pg_has_role(current_user, 'perch_platform', 'usage') as "isOwner"`.execute(db);
  if (!rows[0]?.isOwner)
    throw new OperatorError(
      `The role ${rows[0]?.role} does not own the tables. Point PERCH_MIGRATION_DATABASE_URL at the role that does, as for migrate.`,
    );
}

const firstId = "00000000-0000-0000-0000-000000000000";

/** All organisations, the oldest first, a page in memory at a time. Only the owner of the tables sees them all. */
export async function* listOrganisations(db: Kysely<DB>, pageSize = 1000): AsyncGenerator<ListedOrganisation> {
  await refuseOtherRole(db);
  for (let after = firstId; ; ) {
    const { rows } = await sql<Row>`
      select o.id, o.name, o.tier, o.created_at,
             (select count(*)::int from agents a where a.organisation_id = o.id and a.deleted_at is null) as agents,
             (select count(*)::int from api_keys k where k.organisation_id = o.id and k.revoked_at is null
                and (k.expires_at is null or k.expires_at > now())) as keys
        from organisations o where o.id > ${after} order by o.id limit ${pageSize}`.execute(db);
    for (const row of rows)
      yield { ...row, id: toPublicId("organisation", row.id), created_at: row.created_at.toISOString() };
    const last = rows.at(-1);
    if (!last || rows.length < pageSize) return;
    after = last.id;
  }
}
