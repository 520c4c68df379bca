import { z } from "zod";
import { single } from "./envelopes.ts";
import { OrganisationId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";
import { Tier } from "./tiers.ts";

export const Organisation = z
  .object({
    id: OrganisationId,
    name: z.string(),
    tier: Tier,
    manage_grants_approve: z
      .boolean()
      .describe(
        "Whether a caller with `manage` may give `approve` without having it: to a key, or to the receiver of a webhook's `approval_links`. The default is true.",
      ),
  })
  .meta({ id: "Organisation" });
export type Organisation = z.infer<typeof Organisation>;

const UpdateOrganisation = z
  .strictObject({
    manage_grants_approve: z
      .boolean()
      .optional()
      .describe("false: only a caller that has `approve` gives it. Only the operator can set it to true again."),
  })
  .meta({ id: "UpdateOrganisation" });

const tag = "Organisation";

export const organisationOperations = {
  "GET /v1/organisation": {
    id: "getOrganisation",
    tag,
    summary: "Get organisation",
    permission: "read",
    agents: "none",
    status: 200,
    response: single(Organisation),
  },
  "PATCH /v1/organisation": {
    id: "updateOrganisation",
    tag,
    summary: "Update organisation",
    description:
      "With `manage_grants_approve: false`, a key with `approve` is created, changed or rotated only by a caller that has `approve` too, and so are webhooks with `approval_links`. It applies at once to all callers, and takes nothing from keys and webhooks that exist: revoke those that should not decide. Setting it does not need `approve`, so an organisation in which no key has it can lock itself out. The operator then makes a key with `perch-server create-key --approve`, and sets it to true again with `perch-server set-organisation --manage-grants-approve on`; this operation answers 403 to that. A key of one agent cannot use this operation.",
    permission: "manage",
    agents: "none",
    body: UpdateOrganisation,
    status: 200,
    response: single(Organisation),
  },
} as const satisfies OperationTable;
export type OrganisationOperationKey = keyof typeof organisationOperations;
