import type { WebhookSortField, WebhookStatus } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { Scope } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Webhooks } from "../../db/generated-rows.ts";
import { ofVisibleAgent } from "../../db/of-visible-agent.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { sortOrder } from "../envelopes.ts";
import { webhookTransitions } from "./webhook-rules.ts";

export type WebhookRow = Selectable<Webhooks>;

/** Webhooks that exist for this caller: all of its organisation, or those of its one agent. */
const selectVisible = (trx: OrganisationTransaction, scope: Scope) =>
  trx.selectFrom("webhooks").where("organisation_id", "=", scope.organisationId).where(ofVisibleAgent(scope));

export const findWebhook = (trx: OrganisationTransaction, scope: Scope, id: string): Promise<WebhookRow | undefined> =>
  selectVisible(trx, scope).selectAll().where("id", "=", id).executeTakeFirst();

/** Locks the row until the transaction ends, so that changes to one webhook are serialised. */
export const findWebhookForUpdate = (
  trx: OrganisationTransaction,
  scope: Scope,
  id: string,
): Promise<WebhookRow | undefined> =>
  selectVisible(trx, scope).selectAll().where("id", "=", id).forUpdate().executeTakeFirst();

export interface WebhookFilter {
  readonly agentId?: string | undefined;
  readonly status?: WebhookStatus | undefined;
}

const selectFiltered = (trx: OrganisationTransaction, scope: Scope, { agentId, status }: WebhookFilter) =>
  selectVisible(trx, scope)
    .$if(agentId !== undefined, (query) => query.where("agent_id", "=", agentId ?? null))
    .$if(status !== undefined, (query) => query.where("status", "=", status ?? ""));

interface WebhookPage {
  readonly limit: number;
  readonly offset: number;
  readonly sort: WebhookSortField | `-${WebhookSortField}`;
}

export const listWebhooks = (
  trx: OrganisationTransaction,
  scope: Scope,
  filter: WebhookFilter,
  { limit, offset, sort }: WebhookPage,
): Promise<WebhookRow[]> => {
  const [field, direction] = sortOrder(sort);
  return selectFiltered(trx, scope, filter)
    .selectAll()
    .orderBy(field, direction)
    .orderBy("id", direction)
    .limit(limit)
    .offset(offset)
    .execute();
};

/** An organisation has a thousand at most. */
export async function countWebhooks(
  trx: OrganisationTransaction,
  scope: Scope,
  filter: WebhookFilter = {},
): Promise<number> {
  const row = await selectFiltered(trx, scope, filter)
    .select((eb) => eb.fn.countAll<string>().as("webhooks"))
    .executeTakeFirstOrThrow();
  return Number(row.webhooks);
}

interface NewWebhook {
  readonly id: string;
  readonly agentId: string | null;
  readonly url: string;
  /** Templates: they may refer to secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly events: readonly string[];
  readonly approvalLinks: boolean;
  readonly sealedSecret: Buffer;
  readonly createdBy: string | null;
}

export const insertWebhook = (
  trx: OrganisationTransaction,
  { organisationId }: Scope,
  { id, agentId, url, headers, events, approvalLinks, sealedSecret, createdBy }: NewWebhook,
): Promise<WebhookRow> =>
  trx
    .insertInto("webhooks")
    .values({
      organisation_id: organisationId,
      id,
      agent_id: agentId,
      url,
      headers: JSON.stringify(headers),
      events: [...events],
      approval_links: approvalLinks,
      status: webhookTransitions.create.to,
      sealed_secret: sealedSecret,
      created_by: createdBy,
    })
    .returningAll()
    .executeTakeFirstOrThrow();

export type WebhookChange = Partial<
  Pick<
    WebhookRow,
    | "url"
    | "headers"
    | "events"
    | "approval_links"
    | "status"
    | "disabled_reason"
    | "failing_since"
    | "sealed_secret"
    | "sealed_previous_secret"
    | "previous_until"
  >
>;

export const updateWebhook = (
  trx: OrganisationTransaction,
  { organisationId }: Scope,
  id: string,
  change: WebhookChange,
): Promise<WebhookRow> =>
  trx
    .updateTable("webhooks")
    // A millisecond later at least, because the answer shows no less: a new secret must change the tag too.
    .set({ ...change, updated_at: sql`greatest(now(), updated_at + interval '1 millisecond')` })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();

/** The caller must be able to see the webhook: find and lock it first. */
export const deleteWebhook = async (
  trx: OrganisationTransaction,
  { organisationId }: Scope,
  id: string,
): Promise<void> => {
  await trx.deleteFrom("webhooks").where("organisation_id", "=", organisationId).where("id", "=", id).execute();
};

export const deleteWebhooksOfAgent = async (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
): Promise<void> => {
  await trx
    .deleteFrom("webhooks")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .execute();
};
