import type { Database } from "../../db/database.ts";
import { chainRedactors, type Redactor } from "../../outbound/secrets/redactor.ts";
import { isRefusedCall, type ResolveCall, type ResolvedCall } from "../../outbound/secrets/resolve-call.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Sealer } from "../../platform/sealing.ts";
import { toEvent } from "../events/to-event.ts";
import * as queries from "./delivery-queries.ts";
import type { DeliveryTask } from "./delivery-task.ts";
import type { EndpointLimits } from "./endpoint-limits.ts";
import type { NameAttempt } from "./forgotten-attempts.ts";
import type { PostEvent, PostResult } from "./post-event.ts";
import type { WebhookMetrics } from "./webhook-metrics.ts";
import {
  deliveryTransitions,
  disablingRule,
  goneStatus,
  retryDelayMs,
  sweepMarginMs,
  sweepWait,
} from "./webhook-rules.ts";
import { openSecret, signatureHeaders } from "./webhook-secrets.ts";

export interface NextTask {
  readonly task: DeliveryTask;
  readonly afterMs: number;
}

/** `next` is null when the delivery has ended. */
export type AttemptResult = { readonly next: NextTask | null } | { readonly unrecorded: queries.AttemptRecord };

/** The steps of a delivery's workflow. */
export interface DeliverySteps {
  readonly attempt: (task: DeliveryTask) => Promise<AttemptResult>;
  readonly record: (task: DeliveryTask, record: queries.AttemptRecord) => Promise<NextTask | null>;
  /** Pending deliveries that nothing has touched since their `sweep_after`. */
  readonly claimDue: () => Promise<DeliveryTask[]>;
}

interface DeliveredLink {
  readonly url: string;
  /** Removes the link from the stored answer of the receiver, which may repeat the body. */
  readonly redactor: Redactor;
}

/** A link that is added to the body of a delivery. */
export type FindLink = (
  webhook: queries.WebhookRef,
  delivery: Pick<queries.DeliveryContext, "event_type" | "url" | "data">,
) => Promise<DeliveredLink | undefined>;

interface DeliveryStepsDeps {
  readonly db: Database;
  readonly limits: EndpointLimits;
  readonly postEvent: PostEvent;
  readonly resolveCall: ResolveCall;
  readonly findLink: FindLink;
  readonly nameAttempt: NameAttempt;
  readonly webhookSecrets: Sealer;
  readonly retrySeconds: readonly number[];
  readonly telemetry: WebhookMetrics;
  readonly version: string;
  readonly logger: Logger;
  readonly now: () => number;
}

/**
 * The limits for one claim. An organisation with a backlog gets about as many as it may have under way, and leaves the
 * engine time for others.
 */
const claimLimits: queries.ClaimLimits = { total: 200, perOrganisation: 32 };

/** Whether more deliveries may be due than were claimed. */
export function mayHaveMoreDue(claimed: readonly Pick<DeliveryTask, "organisationId">[]): boolean {
  const counts = Map.groupBy(claimed, ({ organisationId }) => organisationId);
  return (
    claimed.length >= claimLimits.total ||
    [...counts.values()].some(({ length }) => length >= claimLimits.perOrganisation)
  );
}

/** The fields that distinguish this attempt from a forgotten one do not concern another attempt. */
const taskOf = ({ organisationId, id, webhookId }: DeliveryTask, attempt: number): DeliveryTask => ({
  organisationId,
  id,
  webhookId,
  attempt,
  deferred: 0,
});

/** A delivery deferred for at least this long is hidden from the sweep, which would claim it again. */
const minSweepPostponeMs = 15_000;
export function createDeliverySteps(deps: DeliveryStepsDeps): DeliverySteps {
  const { db, limits, postEvent, resolveCall, webhookSecrets, retrySeconds, telemetry, version, logger, now } = deps;

  const defer = async (task: DeliveryTask, afterMs: number): Promise<NextTask> => {
    telemetry.webhookAttempted("deferred");
    if (afterMs >= minSweepPostponeMs) {
      const until = new Date(now() + afterMs + sweepMarginMs);
      // It only saves the sweep some work: the engine ignores an attempt that it has already.
      await db
        .inOrganisation(task.organisationId, (trx) => queries.updateDeliverySweepAfter(trx, task, task.id, until))
        .catch((error: unknown) => logger.debug({ err: error }, "deferred delivery not hidden from the sweep"));
    }
    return { task: { ...task, deferred: task.deferred + 1 }, afterMs };
  };

  /** The attempt was made already, by another worker or before a crash: continue from the record. */
  const nextTaskFrom = (task: DeliveryTask, delivery: queries.DeliveryContext | undefined): NextTask | null =>
    delivery?.status === "pending"
      ? {
          task: taskOf(task, delivery.attempts + 1),
          afterMs: Math.max(0, (delivery.next_attempt_at?.getTime() ?? 0) - now()),
        }
      : null;

  /** Or why the attempt fails before anything is sent. */
  const resolveHeaders = async (
    { organisationId }: DeliveryTask,
    { url, headers, webhook_agent_id: agentId }: queries.DeliveryContext,
  ): Promise<ResolvedCall | PostResult> => {
    try {
      return await resolveCall({ organisationId, agentId }, { subject: "The webhook", url, headers });
    } catch (error) {
      if (!isRefusedCall(error)) throw error;
      return { ms: 0, statusCode: null, response: null, error: error.message, kind: "blocked" };
    }
  };

  const send = async (task: DeliveryTask, delivery: queries.DeliveryContext): Promise<PostResult> => {
    const resolved = await resolveHeaders(task, delivery);
    if ("kind" in resolved) return resolved;
    const { organisationId, webhookId: id } = task;
    const { event_id, event_type: type, event_created_at: created_at, agent_id, data } = delivery;
    const link = await deps.findLink(task, delivery);
    const delivered = link ? { ...data, link: link.url } : data;
    const event = toEvent({ id: event_id, type, created_at, agent_id, data: delivered });
    const body = JSON.stringify(event);
    const open = (sealed: Buffer) => openSecret(webhookSecrets, sealed, { organisationId, id });
    const overlaps = delivery.sealed_previous_secret !== null && (delivery.previous_until?.getTime() ?? 0) > now();
    const signatures = signatureHeaders({
      id: event.id,
      body,
      atMs: now(),
      secret: open(delivery.sealed_secret),
      previous: overlaps && delivery.sealed_previous_secret ? open(delivery.sealed_previous_secret) : undefined,
    });
    const headers = {
      ...resolved.headers,
      "content-type": "application/json",
      "user-agent": `Perch/${version}`,
      "x-service-delivery": toPublicId("delivery", task.id),
      ...signatures,
    };
    const redactor = link ? chainRedactors(resolved.redactor, link.redactor) : resolved.redactor;
    return postEvent({ url: delivery.url, headers, body, redactor });
  };

  const { deliver, fail } = deliveryTransitions;
  const toAttemptRecord = (task: DeliveryTask, atMs: number, result: PostResult): queries.AttemptRecord => {
    const { statusCode, error, response, ms, retryAfterMs } = result;
    const isGone = statusCode === goneStatus;
    const delayMs =
      error === null || isGone
        ? undefined
        : retryDelayMs(retrySeconds, task.attempt, { retryAfterMs, random: Math.random() });
    return {
      organisation_id: task.organisationId,
      webhook_id: task.webhookId,
      delivery_id: task.id,
      number: task.attempt,
      at: new Date(atMs).toISOString(),
      duration_ms: ms,
      status_code: statusCode,
      error,
      response,
      status: error === null ? deliver.to : delayMs === undefined ? fail.to : "pending",
      next_attempt_at: delayMs === undefined ? null : new Date(atMs + ms + delayMs).toISOString(),
      sweep_after: new Date(atMs + ms + (delayMs ?? 0) + sweepMarginMs).toISOString(),
      ...disablingRule(statusCode, atMs),
    };
  };

  const findContext = (task: DeliveryTask) =>
    db.onBehalfOf(task.organisationId, (trx) => queries.findDeliveryContext(trx, task, task.id));

  const record: DeliverySteps["record"] = async (task, attemptRecord) => {
    const { organisationId } = task;
    const { inserted, disabled } = await db.onBehalfOf(organisationId, (trx) =>
      queries.insertAttempt(trx, attemptRecord),
    );
    if (disabled !== null)
      logger.warn({ webhookId: toPublicId("webhook", task.webhookId), reason: disabled }, "webhook disabled");
    if (!inserted) return nextTaskFrom(task, await findContext(task));
    if (attemptRecord.next_attempt_at === null) return null;
    const afterMs = Math.max(0, Date.parse(attemptRecord.next_attempt_at) - now());
    return { task: taskOf(task, task.attempt + 1), afterMs };
  };

  const cancel = (task: DeliveryTask, reason: string) =>
    db.inOrganisation(task.organisationId, (trx) => queries.updateDeliveryCancelled(trx, task, task.id, reason));

  /** Undefined when the delivery can be sent; otherwise the next step. */
  const finishIfNotSendable = async (task: DeliveryTask, delivery: queries.DeliveryContext | undefined) => {
    if (delivery?.status !== "pending" || delivery.attempts >= task.attempt) return nextTaskFrom(task, delivery);
    if (delivery.webhook_status === "enabled" && delivery.data !== null) return undefined;
    const reason =
      delivery.webhook_status === null
        ? "The webhook was deleted."
        : delivery.webhook_status === "disabled"
          ? "The webhook is disabled."
          : "The event has expired.";
    await cancel(task, reason);
    return null;
  };

  const attempt: DeliverySteps["attempt"] = async (task) => {
    const permit = limits.acquire(task);
    if ("waitMs" in permit) return { next: await defer(task, permit.waitMs) };
    // Nothing was sent, so this proves nothing about the endpoint, and must neither open nor close the circuit.
    let outcome: "succeeded" | "failed" | "skipped" = "skipped";
    try {
      const delivery = await findContext(task);
      const next = await finishIfNotSendable(task, delivery);
      if (next !== undefined || !delivery) return { next: next ?? null };
      const deferral = permit.enterAddress(delivery.url);
      if (deferral) return { next: await defer(task, deferral.waitMs) };
      const startedAtMs = now();
      const result = await send(task, delivery);
      outcome = result.error === null ? "succeeded" : "failed";
      telemetry.webhookAttempted(result.kind);
      const attemptRecord = toAttemptRecord(task, startedAtMs, result);
      try {
        return { next: await record(task, attemptRecord) };
      } catch (error) {
        logger.warn(
          { err: error, deliveryId: toPublicId("delivery", task.id), attempt: task.attempt },
          "delivery attempt record failed, will retry",
        );
        return { unrecorded: attemptRecord };
      }
    } finally {
      permit.release(outcome);
    }
  };

  const toTask = async (due: queries.DueDelivery): Promise<DeliveryTask> => {
    const { organisation_id: organisationId, id, webhook_id: webhookId, attempts } = due;
    const task = { organisationId, id, webhookId, attempt: attempts + 1, deferred: 0 };
    return deps.nameAttempt(task);
  };

  return {
    attempt,
    record,
    claimDue: async () => {
      const due = await queries.claimDueDeliveries(db.unscoped, claimLimits, sweepWait);
      return Promise.all(due.map(toTask));
    },
  };
}
