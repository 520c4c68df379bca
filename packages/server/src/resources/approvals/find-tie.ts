import type { OrganisationTransaction } from "../../db/database.ts";
import { listCreators } from "../keys/key-queries.ts";
import type { ApprovalRow } from "./approval-queries.ts";
import { type Known, tieToInvoker } from "./approval-rules.ts";

/** A person has no key, so there is none to make. */
async function known(trx: OrganisationTransaction, organisationId: string, identity: string): Promise<Known> {
  const [kind, id = ""] = identity.split(":", 2);
  return { identity, creators: kind === "key" ? await listCreators(trx, { organisationId }, id) : [] };
}

/** Why the decision is left to others; undefined if this voter may decide. Links have no voter. */
export async function findTie(
  trx: OrganisationTransaction,
  row: Pick<ApprovalRow, "organisation_id" | "invoker" | "invoker_may_decide">,
  voter: string | null,
): Promise<ReturnType<typeof tieToInvoker>> {
  const { organisation_id, invoker, invoker_may_decide } = row;
  if (invoker_may_decide || voter === null || invoker === null) return undefined;
  return tieToInvoker(await known(trx, organisation_id, invoker), await known(trx, organisation_id, voter));
}
