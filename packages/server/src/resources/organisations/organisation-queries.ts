import type { Tier } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Organisations } from "../../db/generated-rows.ts";

interface NewOrganisation {
  readonly id: string;
  readonly name: string;
  readonly tier: Tier;
}

/** The organisation's name, or undefined if it does not exist. */
export async function updateTier(
  trx: OrganisationTransaction,
  organisationId: string,
  tier: Tier,
): Promise<string | undefined> {
  const row = await trx
    .updateTable("organisations")
    .set({ tier })
    .where("id", "=", organisationId)
    .returning("name")
    .executeTakeFirst();
  return row?.name;
}

export type OrganisationRow = Pick<Selectable<Organisations>, "id" | "name" | "tier" | "manage_grants_approve">;
const columns = ["id", "name", "tier", "manage_grants_approve"] as const satisfies (keyof OrganisationRow)[];

export const findOrganisation = (
  trx: OrganisationTransaction,
  organisationId: string,
): Promise<OrganisationRow | undefined> =>
  trx.selectFrom("organisations").select(columns).where("id", "=", organisationId).executeTakeFirst();

/** Waits for grants that are under way, because `requireMayGiveApprove` locks the row. */
export const updateManageGrantsApprove = (
  trx: OrganisationTransaction,
  organisationId: string,
  manageGrantsApprove: boolean,
): Promise<OrganisationRow | undefined> =>
  trx
    .updateTable("organisations")
    .set({ manage_grants_approve: manageGrantsApprove })
    .where("id", "=", organisationId)
    .returning(columns)
    .executeTakeFirst();

/** Needs no special privilege: the transaction is already scoped to the new id. */
export const insertOrganisation = async (
  trx: OrganisationTransaction,
  organisation: NewOrganisation,
): Promise<void> => {
  await trx.insertInto("organisations").values(organisation).execute();
};

/**
 * Takes the organisation out of service: none of its keys is found any more. False if the organisation does not exist.
 */
export async function updateErasingSince(trx: OrganisationTransaction, organisationId: string): Promise<boolean> {
  const row = await trx
    .updateTable("organisations")
    .set({ erasing_since: sql`coalesce(erasing_since, now())` })
    .where("id", "=", organisationId)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}
