/** Statuses after which the same request may go well. */
export const mayPass = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500;

const whole = (ms: number): number | undefined => (Number.isFinite(ms) ? Math.max(0, Math.ceil(ms)) : undefined);

/** "17" or "1.5" seconds, or undefined. */
export const secondsAsMs = (text: string): number | undefined =>
  /^\s*\d+(\.\d+)?\s*$/.test(text) ? whole(Number(text) * 1000) : undefined;

/** How long the other side asks to wait: `Retry-After` in seconds or as a date, or `retry-after-ms` (OpenAI and Azure). */
export function retryAfterMs(headers: Headers): number | undefined {
  const ms = headers.get("retry-after-ms");
  if (ms !== null && /^\d+(\.\d+)?$/.test(ms)) return whole(Number(ms));
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  return secondsAsMs(after) ?? whole(Date.parse(after) - Date.now());
}

/** fetch hides what happened behind "fetch failed": the reason is down the chain of causes. */
export function* causesOf(error: unknown): Generator<Error & { readonly code?: unknown }> {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 10; cause = cause.cause, depth++) yield cause;
}
