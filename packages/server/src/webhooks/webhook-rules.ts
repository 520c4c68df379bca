import type { DeliveryStatus } from "@perch/contract";

/** The states of a delivery. */
export const deliveryTransitions = {
  deliver: { from: "pending", to: "delivered" },
  fail: { from: "pending", to: "failed" },
  cancel: { from: "pending", to: "cancelled" },
} as const satisfies Record<string, { readonly from: DeliveryStatus; readonly to: DeliveryStatus }>;

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** What is wrong with a URL, judged without resolving its host; undefined when nothing is. */
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
