import type { Caller } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import { forbidden } from "../../platform/api-error.ts";

/** Locks the row until the grant is committed, so that none is under way when the answer to switching it off returns. */
async function findManageGrantsApprove(trx: OrganisationTransaction, organisationId: string): Promise<boolean> {
  const { manage_grants_approve } = await trx
    .selectFrom("organisations")
    .select("manage_grants_approve")
    .where("id", "=", organisationId)
    .forShare()
    .executeTakeFirstOrThrow();
  return manage_grants_approve;
}

/**
 * For a change after which a key has `approve`, or a receiver of links decides. A caller without `approve` needs
 * `manage`, which others check, and an organisation that has not forbidden it. Read in the transaction of the change,
 * because no cached state may allow it.
 */
export async function requireMayGiveApprove(
  trx: OrganisationTransaction,
  { organisation, permissions }: Pick<Caller, "organisation" | "permissions">,
  change: string,
): Promise<void> {
  if (permissions.has("approve") || (await findManageGrantsApprove(trx, organisation.id))) return;
  throw forbidden(
    `${change} needs the permission \`approve\` here, because this organisation has set \`manage_grants_approve\` to false. Use a key that has \`manage\` and \`approve\`. If there is none, ask the operator of the installation for one: \`perch-server create-key --approve\`.`,
  );
}
