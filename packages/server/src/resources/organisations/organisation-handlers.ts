import type { Organisation, OrganisationOperationKey, Tier } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { forbidden, notFound } from "../../platform/api-error.ts";
import { Unchanged } from "../../platform/change-results.ts";
import { toPublicId } from "../../platform/ids.ts";
import { single } from "../envelopes.ts";
import type { Handlers } from "../handlers.ts";
import * as queries from "./organisation-queries.ts";

const toOrganisation = ({ id, tier, ...fields }: queries.OrganisationRow): Organisation => ({
  ...fields,
  id: toPublicId("organisation", id),
  tier: tier as Tier,
});

/** The row of a caller's own organisation is missing only if it has just been erased. */
function found(row: queries.OrganisationRow | undefined, organisationId: string): queries.OrganisationRow {
  if (!row) throw notFound("organisation", toPublicId("organisation", organisationId));
  return row;
}

interface OrganisationDeps {
  readonly db: Database;
}

export const organisationHandlers = ({ db }: OrganisationDeps) =>
  ({
    "GET /v1/organisation": (_, { scope: { organisationId } }) =>
      db.inOrganisation(organisationId, async (trx) =>
        single(toOrganisation(found(await queries.findOrganisation(trx, organisationId), organisationId))),
      ),

    "PATCH /v1/organisation": async ({ body }, { scope: { organisationId, onlyAgentId }, change }) => {
      if (onlyAgentId !== null)
        throw forbidden("This key belongs to one agent. Change the organisation with an organisation's key.");
      return change(async (trx) => {
        const current = found(await queries.findOrganisation(trx, organisationId), organisationId);
        const { manage_grants_approve = current.manage_grants_approve } = body;
        if (manage_grants_approve === current.manage_grants_approve)
          return new Unchanged(single(toOrganisation(current)));
        if (manage_grants_approve)
          throw forbidden(
            `Only the operator of the installation can set \`manage_grants_approve\` to true again: \`perch-server set-organisation --organisation ${toPublicId("organisation", organisationId)} --manage-grants-approve on\`.`,
          );
        const changed = await queries.updateManageGrantsApprove(trx, organisationId, manage_grants_approve);
        return single(toOrganisation(found(changed, organisationId)));
      });
    },
  }) satisfies Handlers<OrganisationOperationKey>;
