import { type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import type { KeyFactors } from "../db/generated-rows.ts";

export type FactorRow = Selectable<KeyFactors>;

/** Identifies a factor: each API key has at most one. */
export interface FactorKey {
  readonly organisationId: string;
  readonly keyId: string;
}

const factors = (trx: OrganisationTransaction, { organisationId, keyId }: FactorKey) =>
  trx.selectFrom("key_factors").where("organisation_id", "=", organisationId).where("key_id", "=", keyId);

export const findFactor = (trx: OrganisationTransaction, key: FactorKey): Promise<FactorRow | undefined> =>
  factors(trx, key).selectAll().executeTakeFirst();

/** Locks the row until the transaction ends, so that a code cannot be used twice concurrently. */
export const findFactorForUpdate = (trx: OrganisationTransaction, key: FactorKey): Promise<FactorRow | undefined> =>
  factors(trx, key).selectAll().forUpdate().executeTakeFirst();

type FactorChange = Partial<
  Pick<FactorRow, "confirmed_at" | "failures" | "locked_until" | "recovery_codes"> & { readonly last_period: number }
>;

export const updateFactor = async (
  trx: OrganisationTransaction,
  { organisationId, keyId }: FactorKey,
  change: FactorChange,
): Promise<void> => {
  await trx
    .updateTable("key_factors")
    .set(change)
    .where("organisation_id", "=", organisationId)
    .where("key_id", "=", keyId)
    .execute();
};

/** Replaces an unconfirmed factor, if there is one. */
export const insertFactor = async (
  trx: OrganisationTransaction,
  { organisationId, keyId }: FactorKey,
  { secret, recoveryCodes }: { readonly secret: Buffer; readonly recoveryCodes: Buffer[] },
): Promise<void> => {
  await trx
    .insertInto("key_factors")
    .values({ organisation_id: organisationId, key_id: keyId, secret, recovery_codes: recoveryCodes })
    .onConflict((conflict) =>
      conflict.columns(["organisation_id", "key_id"]).doUpdateSet({
        secret,
        recovery_codes: recoveryCodes,
        created_at: sql`now()`,
      }),
    )
    .execute();
};

export const deleteFactor = async (
  trx: OrganisationTransaction,
  { organisationId, keyId }: FactorKey,
): Promise<void> => {
  await trx
    .deleteFrom("key_factors")
    .where("organisation_id", "=", organisationId)
    .where("key_id", "=", keyId)
    .execute();
};
