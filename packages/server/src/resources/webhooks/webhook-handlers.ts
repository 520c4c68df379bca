import { isDeepStrictEqual } from "node:util";
import type { InputOf, Operations, WebhookOperationKey } from "@perch/contract";
import type { Scope } from "../../auth/caller.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import { forbidden, notFound } from "../../platform/api-error.ts";
import { Unchanged } from "../../platform/change-results.ts";
import { newUuid, parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { Sealer } from "../../platform/sealing.ts";
import { findAgent, findAgentForUpdate } from "../agents/agent-queries.ts";
import { page, single } from "../envelopes.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import { requireMayGiveApprove } from "../keys/approve-grants.ts";
import type { Quotas } from "../quotas/quotas.ts";
import type { CheckUrl } from "./check-url.ts";
import { toWebhook } from "./to-webhook.ts";
import * as queries from "./webhook-queries.ts";
import { refuseToSendLinks, requirePublicUrl, webhookTransitions } from "./webhook-rules.ts";
import { generateSecret, sealSecret } from "./webhook-secrets.ts";

interface WebhookDeps {
  readonly db: Database;
  readonly checkUrl: CheckUrl;
  readonly quotas: Quotas;
  readonly webhookSecrets: Sealer;
  readonly publicUrl: string | undefined;
  readonly now: () => Date;
}

/** The agent of a new webhook. A key that belongs to one agent may subscribe to that agent's events only. */
async function resolveAgentId(
  trx: OrganisationTransaction,
  scope: Scope,
  ref: string | undefined,
): Promise<string | null> {
  if (ref === undefined) {
    if (scope.onlyAgentId === null) return null;
    const id = JSON.stringify(toPublicId("agent", scope.onlyAgentId));
    throw forbidden(`This key belongs to one agent: give \`agent_id\`: ${id}.`);
  }
  // Locked, so that it is not deleted in the meantime: deleting an agent deletes its webhooks.
  const agent = await findAgentForUpdate(trx, scope, ref);
  if (!agent) throw notFound("agent", ref);
  return agent.id;
}

async function lockWebhook(
  trx: OrganisationTransaction,
  { scope, requireMatch }: RequestContext,
  ref: string,
  now: Date,
): Promise<queries.WebhookRow> {
  const id = parsePublicId("webhook", ref);
  const row = id && (await queries.findWebhookForUpdate(trx, scope, id));
  if (!row) throw notFound("webhook", ref);
  requireMatch(toWebhook(row, now));
  return row;
}

/** Their receiver decides with them. */
const givesLinks = "Creating or changing a webhook with `approval_links`";

type WebhookPatch = InputOf<Operations["PATCH /v1/webhooks/{webhook_id}"]>["body"];

/** Enabling clears the record of past failures. */
const toChange = ({ url, headers, events, approval_links, enabled }: WebhookPatch): queries.WebhookChange => ({
  ...(url !== undefined && { url }),
  ...(headers !== undefined && { headers }),
  ...(events !== undefined && { events: [...events] }),
  ...(approval_links !== undefined && { approval_links }),
  ...(enabled !== undefined && {
    status: (enabled ? webhookTransitions.enable : webhookTransitions.disable).to,
    disabled_reason: null,
    ...(enabled && { failing_since: null }),
  }),
});

export const webhookHandlers = ({ db, checkUrl, quotas, webhookSecrets, publicUrl, now }: WebhookDeps) =>
  ({
    "POST /v1/webhooks": async ({ body }, { caller, scope, change }) => {
      if (body.approval_links) {
        refuseToSendLinks(caller);
        requirePublicUrl(publicUrl);
      }
      await checkUrl(body.url);
      return change(async (trx) => {
        if (body.approval_links) await requireMayGiveApprove(trx, caller, givesLinks);
        const agentId = await resolveAgentId(trx, scope, body.agent_id);
        await quotas.requireRoom(trx, caller.organisation, "webhooks");
        const id = newUuid();
        const secret = generateSecret();
        const row = await queries.insertWebhook(trx, scope, {
          id,
          agentId,
          url: body.url,
          headers: body.headers,
          events: body.events,
          approvalLinks: body.approval_links,
          sealedSecret: sealSecret(webhookSecrets, secret, { ...scope, id }),
          createdBy: caller.keyId,
        });
        return single({ ...toWebhook(row, now()), secret });
      });
    },

    "GET /v1/webhooks": ({ query }, { scope }) =>
      db.inOrganisation(scope.organisationId, async (trx) => {
        const agent = query.agent_id === undefined ? undefined : await findAgent(trx, scope, query.agent_id);
        if (query.agent_id !== undefined && !agent) throw notFound("agent", query.agent_id);
        const filter = { agentId: agent?.id, status: query.status };
        const rows = await queries.listWebhooks(trx, scope, filter, query);
        return page(
          rows.map((row) => toWebhook(row, now())),
          query,
          await queries.countWebhooks(trx, scope, filter),
        );
      }),

    "GET /v1/webhooks/{webhook_id}": async ({ params }, { scope }) => {
      const id = parsePublicId("webhook", params.webhook_id);
      const row = id && (await db.inOrganisation(scope.organisationId, (trx) => queries.findWebhook(trx, scope, id)));
      if (!row) throw notFound("webhook", params.webhook_id);
      return single(toWebhook(row, now()));
    },

    "PATCH /v1/webhooks/{webhook_id}": async ({ params, body }, context) => {
      const { caller, scope, change } = context;
      if (body.url !== undefined) await checkUrl(body.url);
      return change(async (trx) => {
        const current = await lockWebhook(trx, context, params.webhook_id, now());
        const changed = toChange(body);
        if (isDeepStrictEqual({ ...current, ...changed }, current))
          return new Unchanged(single(toWebhook(current, now())));
        if (current.approval_links || changed.approval_links) refuseToSendLinks(caller);
        if (changed.approval_links) requirePublicUrl(publicUrl);
        if (changed.approval_links ?? current.approval_links) await requireMayGiveApprove(trx, caller, givesLinks);
        return single(toWebhook(await queries.updateWebhook(trx, scope, current.id, changed), now()));
      });
    },

    "DELETE /v1/webhooks/{webhook_id}": ({ params }, context) =>
      context.change(async (trx) => {
        const { id } = await lockWebhook(trx, context, params.webhook_id, now());
        await queries.deleteWebhook(trx, context.scope, id);
        return single({ id: params.webhook_id, deleted: true as const });
      }),

    "POST /v1/webhooks/{webhook_id}/rotate": ({ params, body }, context) =>
      context.change(async (trx) => {
        const { caller, scope } = context;
        const current = await lockWebhook(trx, context, params.webhook_id, now());
        // Links that were delivered are void with the secret of their delivery.
        if (current.approval_links) {
          refuseToSendLinks(caller);
          await requireMayGiveApprove(trx, caller, givesLinks);
        }
        const secret = generateSecret();
        const overlaps = body.overlap_seconds > 0;
        const row = await queries.updateWebhook(trx, scope, current.id, {
          sealed_secret: sealSecret(webhookSecrets, secret, { ...scope, id: current.id }),
          sealed_previous_secret: overlaps ? current.sealed_secret : null,
          previous_until: overlaps ? new Date(now().getTime() + body.overlap_seconds * 1000) : null,
        });
        return single({ ...toWebhook(row, now()), secret });
      }),
  }) satisfies Handlers<WebhookOperationKey>;
