import { type PerchError, RunFailedError } from "./errors.ts";

const retryableStatuses: ReadonlySet<number | undefined> = new Set([408, 429, 500, 502, 503, 504]);
const initialBackoffMs = 500;
const maxBackoffMs = 8000;
/** With a longer `Retry-After`, the error is thrown immediately. */
const maxRetryAfterMs = 60_000;

/**
 * True if a retry may succeed. A failed run stays failed. A run that outlasts the wait is joined, not started again: every POST has an
 * `Idempotency-Key`.
 */
export const isRetryable = (error: PerchError): boolean => {
  if (error instanceof RunFailedError) return false;
  return error.status === undefined
    ? error.code === "connection_failed" || error.code === "timed_out"
    : retryableStatuses.has(error.status);
};

/**
 * Delay before the next attempt; undefined if there should be none. Waits the whole `Retry-After`. The random part
 * (`random` is from 0 to 1) spreads the retries of many clients.
 */
export function retryDelayMs(error: PerchError, failures: number, random: number): number | undefined {
  if (!isRetryable(error)) return undefined;
  const askedMs = (error.retryAfterSeconds ?? 0) * 1000;
  if (askedMs > maxRetryAfterMs) return undefined;
  const backoffMs = Math.min(maxBackoffMs, initialBackoffMs * 2 ** failures);
  return Math.round(askedMs + random * backoffMs);
}

/** `Retry-After`: seconds, or a date. */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}
