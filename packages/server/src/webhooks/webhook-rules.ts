import type { DeliveryStatus } from "@perch/contract";

/** The states of a delivery. */
export const deliveryTransitions = {
  deliver: { from: "pending", to: "delivered" },
  fail: { from: "pending", to: "failed" },
  cancel: { from: "pending", to: "cancelled" },
} as const satisfies Record<string, { readonly from: DeliveryStatus; readonly to: DeliveryStatus }>;

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** What is wrong with an address before anybody looks where it leads; undefined when nothing is. */
export function refusedUrl(text: string, allowHttp: boolean): string | undefined {
  const url = URL.parse(text);
  if (!url) return "Expected an https address.";
  const isPlain = url.protocol === "http:";
  if (url.protocol !== "https:" && !isPlain) return "Use an https address.";
  if (url.username !== "" || url.password !== "") return "Must not contain a user name or password.";
  if (isPlain && !(allowHttp && isLoopback(url.hostname)))
    return allowHttp
      ? "Use an https address: plain http is for loopback alone."
      : "Use an https address. For development, an operator can allow plain http to loopback with PERCH_WEBHOOK_ALLOW_HTTP.";
  const port = url.port === "" ? 443 : Number(url.port);
  if (port !== 443 && port < 1024) return "Use port 443, or one from 1024 on.";
  return undefined;
}

const longestAskedMs = 24 * 3_600_000;

/**
 * How long to wait before the next attempt, or undefined when there is none. Everybody's waits differ by up to a fifth, so that a
 * receiver that comes back is not asked for everything at once. `Retry-After` counts, up to a day, where it is longer.
 */
export function waitMs(
  schedule: readonly number[],
  attemptsMade: number,
  { retryAfterMs = 0, random }: { readonly retryAfterMs?: number | undefined; readonly random: number },
): number | undefined {
  const seconds = schedule[attemptsMade - 1];
  if (seconds === undefined) return undefined;
  const planned = seconds * 1000 * (0.8 + 0.4 * random);
  return Math.round(Math.max(planned, Math.min(retryAfterMs, longestAskedMs)));
}
