import * as oauth from "oauth4webapi";
import { RefusedAddressError } from "../address-guard.ts";
import { findConnectFailure } from "../connect-failures.ts";
import { ResponseTooLargeError } from "../guarded-client.ts";
import { causesOf, OutsideError } from "../outbound-errors.ts";
import { RefusedSecretError } from "../secrets/resolve-call.ts";
import { describeTransportError } from "../tools/tool-errors.ts";
import { waitUntilAborted } from "../wait-until-aborted.ts";

/**
 * `unavailable`: the server did not answer, and a retry may help. `refused`: it rejects this consent, so the user must
 * consent again. `denied`: the person declined. `invalid`: its answer is not what the protocol allows, or was not made
 * for this consent. `misconfigured`: the tool's `connection`, or the installation, must be changed.
 */
export type OAuthFailureKind = "unavailable" | "refused" | "denied" | "invalid" | "misconfigured";

/**
 * Its message is for users: it explains the failure, and names the setting of the tool's `connection` to change, if
 * any. The caller adds whether to retry or to ask for a new link. It contains no token and no text of a browser or a
 * server.
 */
export class OAuthFailure extends OutsideError {
  readonly kind: OAuthFailureKind;
  /** The server does not know, or not accept, the client. */
  readonly isAboutClient: boolean;

  constructor(kind: OAuthFailureKind, message: string, options: ErrorOptions & { isAboutClient?: boolean } = {}) {
    super(message, options);
    this.kind = kind;
    this.isAboutClient = options.isAboutClient === true;
  }
}

/** A retry may help, whatever was asked. */
export const transientErrors: readonly string[] = ["server_error", "temporarily_unavailable", "slow_down"];

/** Words of a protocol, such as `invalid_grant`. Anything else that stands in their place is not repeated. */
export const protocolWord = (text: string): string => (/^[a-z_]{1,64}$/.test(text) ? text : "an unknown error");

/** Not in the protocol's form, such as the error page of a proxy, so it is no answer to the request. */
export const isNotConformant = ({ code }: oauth.OperationProcessingError): boolean =>
  code === oauth.RESPONSE_IS_NOT_JSON || code === oauth.RESPONSE_IS_NOT_CONFORM || code === oauth.PARSE_ERROR;

/** `subject` begins the messages, `advice` ends those that may be a mistake in the `connection`. */
export interface FailureContext {
  readonly subject: string;
  readonly advice: string;
}

export const subjectOf = (address: string): string =>
  URL.canParse(address) ? `The authorization server ${new URL(address).host}` : "The authorization server";

/** Failures that explain themselves, and contain no text of a server. */
const isOwnRefusal = (error: unknown): error is OAuthFailure | RefusedSecretError | RefusedAddressError =>
  error instanceof OAuthFailure || error instanceof RefusedSecretError || error instanceof RefusedAddressError;

/** A status that promises a better answer later. */
export const answeredStatus = (status: number, subject: string): OAuthFailure =>
  new OAuthFailure("unavailable", `${subject} answered ${status}.`);

/** No answer, or one that cannot be read. Errors of `oauth4webapi` contain tokens and answers in their causes, so only fixed words are used. */
export function toCallFailure(
  error: unknown,
  context: FailureContext,
): OAuthFailure | RefusedSecretError | RefusedAddressError {
  const own = [error, ...causesOf(error)].find(isOwnRefusal);
  if (own) return own;
  const { subject, advice } = context;
  if ([...causesOf(error)].some((cause) => cause instanceof ResponseTooLargeError))
    return new OAuthFailure("invalid", `${subject} sends more than Perch reads. ${advice}`);
  if (error instanceof oauth.OperationProcessingError && isNotConformant(error))
    return new OAuthFailure("unavailable", `${subject} did not answer in the form of the protocol.`);
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return new OAuthFailure("invalid", `${subject} sends what the protocol does not allow. ${advice}`);
  const failure = findConnectFailure(error);
  if (!failure) return new OAuthFailure("unavailable", `${subject} ${describeTransportError(error)}.`);
  const reason = `${subject} could not be reached: ${failure.reason}.`;
  if (!failure.isTransient) return new OAuthFailure("misconfigured", `${reason} ${advice}`);
  // An unknown host name is more often a mistake than a temporary failure.
  return new OAuthFailure("unavailable", failure.isUnknownName ? `${reason} ${advice}` : reason);
}

const noAnswer = () => new OAuthFailure("unavailable", "The authorization server did not answer in time.");

/** Stops waiting when the caller does. The work goes on for other callers that wait for it. */
export const waitForServer = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  waitUntilAborted(work, signal, noAnswer);
