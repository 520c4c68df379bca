import type { ApprovalSummary } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import type { CreateRedactor } from "../../outbound/secrets/redactor.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { findLinkSecret } from "../webhooks/delivery-queries.ts";
import type { FindLink } from "../webhooks/delivery-steps.ts";
import { type ApprovalLinks, linkGeneration } from "./approval-link.ts";

/** The path of the links' pages: see `approval-link-routes.ts`. */
export const linkPath = "/approve/";

interface LinkDeps {
  readonly db: Pick<Database, "inOrganisation">;
  readonly approvalLinks: Pick<ApprovalLinks, "tokenOf">;
  readonly createRedactor: CreateRedactor;
  readonly publicUrl: string | undefined;
}

/**
 * The link of a delivery. It is created for each attempt and is only in the body that is posted: not in the event, the
 * log of deliveries, the engine or an answer of the API, which readers that must not decide can see.
 */
export const createFindDeliveredLink =
  ({ db, approvalLinks, createRedactor, publicUrl }: LinkDeps): FindLink =>
  async (webhook, { event_type, url, data }) => {
    if (event_type !== "agent.action_required" || publicUrl === undefined) return undefined;
    const { id, expires_at } = data as ApprovalSummary;
    const approvalId = parsePublicId("approval", id);
    const { organisationId, webhookId } = webhook;
    const secret = await db.inOrganisation(organisationId, (trx) => findLinkSecret(trx, webhook, url));
    if (secret === undefined || approvalId === undefined) return undefined;
    const expiresAt = new Date(expires_at);
    const generation = linkGeneration(secret, url);
    const token = approvalLinks.tokenOf({ organisationId, approvalId, webhookId, expiresAt, generation });
    return {
      url: `${publicUrl}${linkPath}${token}`,
      redactor: createRedactor(organisationId, [["[secret approval link]", token]]),
    };
  };
