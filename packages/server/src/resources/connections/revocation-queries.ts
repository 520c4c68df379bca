import type { RevocationResult } from "@perch/contract";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { GrantedConnection } from "./tell-provider.ts";

/** What the provider said of the grant that this row had. One that was made since is not touched: its row is not `revoked`. */
export const updateRevokedAtProvider = async (
  trx: OrganisationTransaction,
  { organisation_id, id, generation }: Pick<GrantedConnection, "organisation_id" | "id" | "generation">,
  result: Exclude<RevocationResult, "pending">,
): Promise<void> => {
  await trx
    .updateTable("connections")
    .set({ revoked_at_provider: result, sealed_grant: null })
    .where("organisation_id", "=", organisation_id)
    .where("id", "=", id)
    .where("generation", "=", generation)
    .where("status", "=", "revoked")
    .where("revoked_at_provider", "=", "pending")
    .execute();
};
