import { type PerchError, RunFailedError } from "./errors.ts";

const repeatable: ReadonlySet<number | undefined> = new Set([408, 429, 500, 502, 503, 504]);
const firstWaitMs = 500;
const longestBackoffMs = 8000;
/** Whoever is told to come back later than this is better off knowing. */
const longestWaitMs = 60_000;

/** True if the same request may well succeed soon. A run that failed stays failed. */
export const isWorthRepeating = (error: PerchError): boolean => {
  if (error instanceof RunFailedError) return false;
  return error.status === undefined
    ? error.code === "connection_failed" || error.code === "timed_out"
    : repeatable.has(error.status);
};

/**
 * How long to wait before the next try, after so many that failed; undefined if there should be none. What the server asked for is waited for in
 * full. The random part (`random` is from 0 to 1) keeps many clients from coming back at the same moment.
 */
export function waitBeforeMs(error: PerchError, failures: number, random: number): number | undefined {
  if (!isWorthRepeating(error)) return undefined;
  const askedMs = (error.retryAfterSeconds ?? 0) * 1000;
  if (askedMs > longestWaitMs) return undefined;
  const backoffMs = Math.min(longestBackoffMs, firstWaitMs * 2 ** failures);
  return Math.round(askedMs + random * backoffMs);
}

/** `Retry-After`: seconds, or a date. */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}
