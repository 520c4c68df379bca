import type { DeliveryStatus, WebhookStatus } from "@perch/contract";
import type { Caller } from "../../auth/caller.ts";
import { forbidden, invalid } from "../../platform/api-error.ts";
import type { Transitions } from "../transitions.ts";

/** The states of a webhook. */
export const webhookTransitions = {
  create: { from: [null], to: "enabled" },
  disable: { from: ["enabled"], to: "disabled" },
  enable: { from: ["disabled"], to: "enabled" },
  delete: { from: ["enabled", "disabled"], to: null },
} as const satisfies Transitions<WebhookStatus>;

/** The states of a delivery. */
export const deliveryTransitions = {
  create: { from: [null], to: "pending" },
  deliver: { from: ["pending"], to: "delivered" },
  fail: { from: ["pending"], to: "failed" },
  cancel: { from: ["pending"], to: "cancelled" },
} as const satisfies Transitions<DeliveryStatus>;

/**
 * Anyone who receives a link can decide with it, even on runs that they started. A key without `manage` must not choose
 * where links are sent: a key with `approve` could decide on its own runs.
 */
export function refuseToSendLinks({ permissions }: Pick<Caller, "permissions">): void {
  if (permissions.has("manage")) return;
  throw forbidden(
    "Deliveries with `approval_links` let their receiver decide on approvals. Create or change such a webhook with a key that has the permission `manage`.",
  );
}

/** A link begins with the address at which people reach this installation. */
export function requirePublicUrl(publicUrl: string | undefined): void {
  if (publicUrl === undefined)
    throw invalid(
      "approval_links",
      "This installation does not know its own address, with which links begin. Ask its operator to set PERCH_PUBLIC_URL.",
    );
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** The problem with a URL, found without resolving its host; undefined if there is none. */
export function findUrlProblem(text: string, allowHttp: boolean): string | undefined {
  const url = URL.parse(text);
  if (!url) return "Expected an https address.";
  const isHttp = url.protocol === "http:";
  if (url.protocol !== "https:" && !isHttp) return "Use an https address.";
  if (url.username !== "" || url.password !== "") return "Must not contain a user name or password.";
  if (isHttp && !(allowHttp && isLoopback(url.hostname)))
    return allowHttp
      ? "Use an https address: plain http is allowed for loopback only."
      : "Use an https address. For development, an operator can allow plain http to loopback with PERCH_WEBHOOK_ALLOW_LOOPBACK.";
  const port = url.port === "" ? 443 : Number(url.port);
  if (port !== 443 && port < 1024) return "Use port 443, or one from 1024 on.";
  return undefined;
}

const maxRetryAfterMs = 24 * 3_600_000;

/**
 * The delay before the next attempt, or undefined after the last one. Jittered by up to a fifth, so that a recovered receiver does
 * not get every retry at once. A longer `Retry-After` is honoured, up to a day.
 */
export function retryDelayMs(
  schedule: readonly number[],
  attemptsMade: number,
  { retryAfterMs = 0, random }: { readonly retryAfterMs?: number | undefined; readonly random: number },
): number | undefined {
  const seconds = schedule[attemptsMade - 1];
  if (seconds === undefined) return undefined;
  const scheduledMs = seconds * 1000 * (0.8 + 0.4 * random);
  return Math.round(Math.max(scheduledMs, Math.min(retryAfterMs, maxRetryAfterMs)));
}

/**
 * The sweep skips a delivery for this long after its next attempt is due, because the engine makes the attempt by
 * itself.
 */
export const sweepMarginMs = 15 * 60_000;

/** How long the sweep waits before it claims the same delivery again: as long as the delivery is old, within these bounds. */
export const sweepWait = { minSeconds: 30, maxSeconds: 15 * 60 } as const;

export const goneStatus = 410;
const maxFailingMs = 5 * 24 * 3_600_000;
const goneReason = "The receiver answered 410: it wants no more events. Enable the webhook again if it does.";
const failingTooLongReason = "No attempt has succeeded for 5 days. Enable the webhook again when its receiver works.";

/** When a failed attempt disables its webhook: at once after a 410, or when none has succeeded for five days. */
export const disablingRule = (statusCode: number | null, attemptedAtMs: number) => ({
  disable_now: statusCode === goneStatus ? goneReason : null,
  disable_if_failing: failingTooLongReason,
  failing_deadline: new Date(attemptedAtMs - maxFailingMs).toISOString(),
});
