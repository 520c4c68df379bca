import type { Database } from "../db/database.ts";
import { toEvent } from "../events/to-event.ts";
import { toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import type { Sealer } from "../platform/secrets.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import * as queries from "./delivery-queries.ts";
import type { EndpointLimits } from "./endpoint-limits.ts";
import type { Exchange, PostEvent } from "./post-event.ts";
import { waitMs } from "./webhook-rules.ts";
import { openSecret, signatureHeaders } from "./webhook-secrets.ts";

/** One attempt of a delivery, as the engine knows it. */
export interface DeliveryTask {
  readonly organisationId: string;
  readonly id: string;
  readonly webhookId: string;
  /** Which attempt, from 1. */
  readonly attempt: number;
  /** How often this attempt was put off because its endpoint had enough to do. */
  readonly deferred: number;
}

export interface NextTask {
  readonly task: DeliveryTask;
  readonly afterMs: number;
}

/** Null: there is nothing left to do. */
export type AttemptResult = { readonly next: NextTask | null } | { readonly unrecorded: queries.AttemptRecord };

/** What the steps of a delivery's workflow do. */
export interface DeliverySteps {
  readonly attempt: (task: DeliveryTask) => Promise<AttemptResult>;
  readonly record: (task: DeliveryTask, record: queries.AttemptRecord) => Promise<NextTask | null>;
  /** What nobody has moved in time. */
  readonly claimDue: () => Promise<DeliveryTask[]>;
}

interface DeliveryStepsDeps {
  readonly db: Database;
  readonly limits: EndpointLimits;
  readonly postEvent: PostEvent;
  readonly webhookSecrets: Sealer;
  readonly retrySeconds: readonly number[];
  readonly telemetry: Pick<Telemetry, "webhookAttempted">;
  readonly version: string;
  readonly logger: Logger;
  readonly now: () => number;
}

/** One claim of the sweep. */
export const mostClaimed = 500;

/** The sweep would find what is put off for longer, and need not. */
const quietMs = 15_000;
const sweepMarginMs = 15 * 60_000;

const gone = "The receiver answered 410: it wants no more events. Enable the webhook again if it does.";
const givenUp = "No attempt has gone well for 5 days. Enable the webhook again when its receiver works.";

export function createDeliverySteps(deps: DeliveryStepsDeps): DeliverySteps {
  const { db, limits, postEvent, webhookSecrets, retrySeconds, telemetry, version, logger, now } = deps;

  const putOff = async (task: DeliveryTask, afterMs: number): Promise<NextTask> => {
    telemetry.webhookAttempted("deferred");
    if (afterMs >= quietMs) {
      const until = new Date(now() + afterMs + sweepMarginMs);
      await db.inOrganisation(task.organisationId, (trx) => queries.postponeSweep(trx, task, task.id, until));
    }
    return { task: { ...task, deferred: task.deferred + 1 }, afterMs };
  };

  /** Somebody else made this attempt, or this process did and died: the next one follows from what is recorded. */
  const nextOf = (task: DeliveryTask, found: queries.DeliveryContext | undefined): NextTask | null =>
    found?.status === "pending"
      ? {
          task: { ...task, attempt: found.attempts + 1, deferred: 0 },
          afterMs: Math.max(0, (found.next_attempt_at?.getTime() ?? 0) - now()),
        }
      : null;

  const send = (task: DeliveryTask, found: queries.DeliveryContext): Promise<Exchange> => {
    const { organisationId, webhookId: id } = task;
    const { event_id, event_type: type, event_created_at: created_at, agent_id, data } = found;
    const event = toEvent({ id: event_id, type, created_at, agent_id, data });
    const body = JSON.stringify(event);
    const open = (sealed: Buffer) => openSecret(webhookSecrets, sealed, { organisationId, id });
    const overlaps = found.sealed_previous_secret !== null && (found.previous_until?.getTime() ?? 0) > now();
    const signatures = signatureHeaders({
      id: event.id,
      body,
      atMs: now(),
      secret: open(found.sealed_secret),
      previous: overlaps && found.sealed_previous_secret ? open(found.sealed_previous_secret) : undefined,
    });
    const headers = {
      "content-type": "application/json",
      "user-agent": `Perch/${version}`,
      "x-service-delivery": toPublicId("delivery", task.id),
      ...signatures,
    };
    return postEvent({ url: found.url, headers, body });
  };

  const recordOf = (task: DeliveryTask, atMs: number, exchange: Exchange): queries.AttemptRecord => {
    const { statusCode, error, response, ms, retryAfterMs } = exchange;
    const isGone = statusCode === 410;
    const after =
      error === null || isGone
        ? undefined
        : waitMs(retrySeconds, task.attempt, { retryAfterMs, random: Math.random() });
    return {
      organisation_id: task.organisationId,
      webhook_id: task.webhookId,
      delivery_id: task.id,
      number: task.attempt,
      at: new Date(atMs).toISOString(),
      ms,
      status_code: statusCode,
      error,
      response,
      status: error === null ? "delivered" : after === undefined ? "failed" : "pending",
      next_attempt_at: after === undefined ? null : new Date(atMs + ms + after).toISOString(),
      gone: isGone ? gone : null,
      given_up: givenUp,
    };
  };

  const record: DeliverySteps["record"] = async (task, attempted) => {
    const { newly, disabled } = await queries.recordAttempt(db.unscoped, attempted);
    if (disabled !== null)
      logger.warn({ webhookId: toPublicId("webhook", task.webhookId), reason: disabled }, "a webhook was disabled");
    if (!newly) return nextOf(task, await queries.findDeliveryContext(db.unscoped, task, task.id));
    if (attempted.next_attempt_at === null) return null;
    const afterMs = Math.max(0, Date.parse(attempted.next_attempt_at) - now());
    return { task: { ...task, attempt: task.attempt + 1, deferred: 0 }, afterMs };
  };

  const cancel = (task: DeliveryTask, reason: string) =>
    db.inOrganisation(task.organisationId, (trx) => queries.cancelDelivery(trx, task, task.id, reason));

  /** Undefined: it goes on. */
  const ended = async (task: DeliveryTask, found: queries.DeliveryContext | undefined) => {
    if (found?.status !== "pending" || found.attempts >= task.attempt) return nextOf(task, found);
    if (found.webhook_status === "enabled" && found.data !== null) return undefined;
    const why =
      found.webhook_status === null
        ? "The webhook was deleted."
        : found.webhook_status === "disabled"
          ? "The webhook is disabled."
          : "The event is not kept any more.";
    await cancel(task, why);
    return null;
  };

  const attempt: DeliverySteps["attempt"] = async (task) => {
    const permit = limits.enter(task.webhookId, task.deferred);
    if ("waitMs" in permit) return { next: await putOff(task, permit.waitMs) };
    // A delivery that has nothing left to do says nothing about its endpoint, but must not close it either.
    let went: "well" | "badly" | "nowhere" = "nowhere";
    try {
      const found = await queries.findDeliveryContext(db.unscoped, task, task.id);
      const next = await ended(task, found);
      if (next !== undefined || !found) return { next: next ?? null };
      const startedAtMs = now();
      const exchange = await send(task, found);
      went = exchange.error === null ? "well" : "badly";
      telemetry.webhookAttempted(exchange.kind);
      const attempted = recordOf(task, startedAtMs, exchange);
      try {
        return { next: await record(task, attempted) };
      } catch (error) {
        logger.warn(
          { err: error, deliveryId: toPublicId("delivery", task.id) },
          "an attempt could not be recorded at once; it will be",
        );
        return { unrecorded: attempted };
      }
    } finally {
      permit.leave(went);
    }
  };

  return {
    attempt,
    record,
    claimDue: async () =>
      (await queries.claimDueDeliveries(db.unscoped, mostClaimed)).map((due) => ({
        organisationId: due.organisation_id,
        id: due.id,
        webhookId: due.webhook_id,
        attempt: due.attempts + 1,
        deferred: 0,
      })),
  };
}
