import type { Tier } from "@perch/contract";
import type { OrganisationTransaction } from "../db/database.ts";

interface NewOrganisation {
  readonly id: string;
  readonly name: string;
  readonly tier: Tier;
}

/** Needs no special right: the transaction is scoped to the id that is about to exist. */
export const insertOrganisation = async (
  trx: OrganisationTransaction,
  organisation: NewOrganisation,
): Promise<void> => {
  await trx.insertInto("organisations").values(organisation).execute();
};
