import { RefusedAddressError } from "../address-guard.ts";
import { ResponseTooLargeError } from "../guarded-client.ts";
import { causesOf, OutsideError } from "../outbound-errors.ts";
import { OutboundBusyError } from "../outbound-share.ts";

/** Throttled, 5xx, network, timeout: a retry may succeed. The message is for users, and contains no address. */
export class TransientToolError extends OutsideError {
  /** How long the tool asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The tools of a server cannot be listed or called, and retrying would not help. */
export class PermanentToolError extends OutsideError {}

/** A response that we refuse, and would refuse on every retry. */
export class ResponseRefusedError extends OutsideError {}

/** The message of a permanent failure, if it is one. */
export const findPermanentReason = (error: unknown): string | undefined =>
  [...causesOf(error)].find((cause) =>
    [RefusedAddressError, ResponseTooLargeError, ResponseRefusedError].some((kind) => cause instanceof kind),
  )?.message;

/** For users. Network error messages contain addresses, so only their codes are shown. */
export function describeTransportError(error: unknown): string {
  const causes = [...causesOf(error)];
  if (causes.some(({ name }) => name === "TimeoutError")) return "took too long to answer";
  const busy = causes.find((cause) => cause instanceof OutboundBusyError);
  if (busy) return `was not called: ${busy.message.replace(/\.$/, "")}`;
  const code = causes.map((cause) => "code" in cause && cause.code).find((found) => typeof found === "string");
  return code ? `could not be reached (${code})` : "could not be reached";
}

/** Rethrows the reason of a caller that cancelled. A timeout is a failure of the tool instead. */
export function throwIfCancelled(signal: AbortSignal): void {
  const { reason } = signal;
  if (signal.aborted && !(reason instanceof Error && reason.name === "TimeoutError")) throw reason;
}
