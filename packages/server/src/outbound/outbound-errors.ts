import { storableText } from "../platform/storable-text.ts";

const maxMessageCharacters = 8000;

/**
 * A failure outside, in words for users that may quote the other side. Messages end up in records, logs and events, so
 * they are made storable here, on entry.
 */
export class OutsideError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(storableText(message, maxMessageCharacters), options);
  }
}

interface TransientOptions {
  readonly retryAfterMs?: number | undefined;
  readonly isUnreachable?: boolean;
  readonly advice?: string;
  readonly cause?: unknown;
}

/** A retry may succeed. The message is for users. */
export class TransientError extends OutsideError {
  /** How long the other side asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** No connection came about: it is worth a few seconds, not the time of a run. */
  readonly isUnreachable: boolean;
  /** Advice for the user, once no retry follows. */
  readonly advice: string;

  constructor(message: string, { cause, retryAfterMs, isUnreachable = false, advice = "" }: TransientOptions = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
    this.isUnreachable = isUnreachable;
    this.advice = advice;
  }
}

/** Whether the same request may succeed later. */
export const isTransientStatus = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500;

export const isLoginRefused = (status: number | undefined): boolean => status === 401 || status === 403;

const roundUpMs = (ms: number): number | undefined => (Number.isFinite(ms) ? Math.max(0, Math.ceil(ms)) : undefined);

/** "17" or "1.5" seconds, or undefined. */
export const parseSecondsAsMs = (text: string): number | undefined =>
  /^\s*\d+(\.\d+)?\s*$/.test(text) ? roundUpMs(Number(text) * 1000) : undefined;

/** How long the server asks to wait: `Retry-After` in seconds or as a date, or `retry-after-ms` (OpenAI and Azure). */
export function retryAfterMs(headers: Headers): number | undefined {
  const ms = headers.get("retry-after-ms");
  if (ms !== null && /^\d+(\.\d+)?$/.test(ms)) return roundUpMs(Number(ms));
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  return parseSecondsAsMs(after) ?? roundUpMs(Date.parse(after) - Date.now());
}

/** The chain of causes: fetch itself only reports "fetch failed". */
export function* causesOf(error: unknown): Generator<Error & { readonly code?: unknown }> {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 10; cause = cause.cause, depth++) yield cause;
}
