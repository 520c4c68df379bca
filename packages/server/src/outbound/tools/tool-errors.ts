import { RefusedAddressError } from "../address-guard.ts";
import { findConnectFailure } from "../connect-failures.ts";
import { ResponseTooLargeError } from "../guarded-client.ts";
import { causesOf, OutsideError, TransientError } from "../outbound-errors.ts";
import { OutboundBusyError, UnreadAnswerError } from "../outbound-share.ts";

/** Throttled, 5xx, network, timeout: a retry may succeed. The message contains no address. */
export class TransientToolError extends TransientError {}

/** The tools of a server cannot be listed or called, and retrying would not help. */
export class PermanentToolError extends OutsideError {
  /** The message without the other side's text, which may belong to the conversation. */
  readonly summary: string;

  constructor(message: string, { summary = message, ...options }: ErrorOptions & { readonly summary?: string } = {}) {
    super(message, options);
    this.summary = summary;
  }
}

/** The tool answered 401. A newer token of the account may help, if there is an account. */
export class LoginRejectedError extends PermanentToolError {}

/** A response that we refuse, and would refuse on every retry. */
export class ResponseRefusedError extends OutsideError {}

/** The message of a permanent failure, if it is one. */
export const findPermanentReason = (error: unknown): string | undefined =>
  [...causesOf(error)].find((cause) =>
    [RefusedAddressError, ResponseTooLargeError, ResponseRefusedError].some((kind) => cause instanceof kind),
  )?.message;

const findBusy = (error: unknown): OutboundBusyError | undefined =>
  [...causesOf(error)].find((cause) => cause instanceof OutboundBusyError);

/** For users. Network error messages contain addresses, so only their codes are shown. */
export function describeTransportError(error: unknown): string {
  const causes = [...causesOf(error)];
  if (causes.some(({ name }) => name === "TimeoutError")) return "took too long to answer";
  const busy = findBusy(error);
  const problem = busy instanceof UnreadAnswerError ? "answered, and its answer was not read" : "was not called";
  if (busy) return `${problem}: ${busy.message.replace(/\.$/, "")}`;
  const code = causes.map((cause) => "code" in cause && cause.code).find((found) => typeof found === "string");
  return code ? `broke off the connection (${code})` : "broke off the connection";
}

/** A call that got no response. `urlSetting` names the setting of its address, for users. */
export function toTransportError(
  error: unknown,
  { subject, urlSetting, cause }: { readonly subject: string; readonly urlSetting: string; readonly cause: unknown },
): TransientToolError | PermanentToolError {
  const failure = findConnectFailure(error);
  const retryAfterMs = findBusy(error)?.retryAfterMs;
  if (!failure) return new TransientToolError(`${subject} ${describeTransportError(error)}.`, { retryAfterMs, cause });
  const message = `${subject} could not be reached: ${failure.reason}.`;
  const advice = failure.adviceAbout(urlSetting);
  return failure.isTransient
    ? new TransientToolError(message, { isUnreachable: true, advice, cause })
    : new PermanentToolError(`${message} ${advice}`, { cause });
}

/** Rethrows the reason of a caller that cancelled. A timeout is a failure of the tool instead. */
export function throwIfCancelled(signal: AbortSignal): void {
  const { reason } = signal;
  if (signal.aborted && !(reason instanceof Error && reason.name === "TimeoutError")) throw reason;
}
