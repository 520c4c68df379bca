import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";

/** Those of these keys that may decide now. */
export async function listDecidingKeys(
  trx: OrganisationTransaction,
  organisationId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await trx
    .selectFrom("api_keys")
    .select("id")
    .where("organisation_id", "=", organisationId)
    .where("id", "in", ids)
    .where("revoked_at", "is", null)
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", sql<Date>`now()`)]))
    .where(sql<boolean>`'approve' = any (permissions)`)
    .execute();
  return new Set(rows.map(({ id }) => id));
}
