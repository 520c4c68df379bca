import { RefusedAddressError, ResponseTooLargeError } from "../platform/guarded-client.ts";
import { causesOf } from "../platform/outbound-failure.ts";

/** An answer that we refuse, and would refuse again. */
export class AnswerRefusedError extends Error {}

/** Why trying again would not help, when it would not. */
export const lastingReason = (error: unknown): string | undefined =>
  [...causesOf(error)].find((cause) =>
    [RefusedAddressError, ResponseTooLargeError, AnswerRefusedError].some((kind) => cause instanceof kind),
  )?.message;

/** In words for users. Messages of the network name addresses, so only its codes are told. */
export function lossInWords(error: unknown): string {
  const causes = [...causesOf(error)];
  if (causes.some(({ name }) => name === "TimeoutError")) return "took too long to answer";
  const code = causes.map((cause) => "code" in cause && cause.code).find((found) => typeof found === "string");
  return code ? `could not be reached (${code})` : "could not be reached";
}

/** A caller that gave up gets its own reason back. Time that ran out is a failure of the tool. */
export function throwIfGivenUp(signal: AbortSignal): void {
  const { reason } = signal;
  if (signal.aborted && !(reason instanceof Error && reason.name === "TimeoutError")) throw reason;
}
