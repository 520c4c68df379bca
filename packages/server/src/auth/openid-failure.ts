import { errors as joseErrors } from "jose";
import * as oauth from "oauth4webapi";
import { isNotConformant, protocolWord } from "../outbound/oauth/oauth-failure.ts";
import { ApiError } from "../platform/api-error.ts";
import { reasonOfFailedCall } from "../platform/reason-of-failed-call.ts";

/**
 * `denied`: the issuer, or the person there, declined. `refused`: the issuer no longer admits the person. `invalid`: an
 * answer that was not made for this sign-in, or that the protocol does not allow; it proves nothing about the person.
 * `unavailable`: the issuer gave no answer.
 */
export type OpenIdFailureKind = "denied" | "refused" | "invalid" | "unavailable";

/** Its message is for the log: it contains no token, and nothing that a browser sent. */
export class OpenIdFailure extends Error {
  readonly kind: OpenIdFailureKind;

  constructor(kind: OpenIdFailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/**
 * RFC 6749, 4.1.2.1, and OpenID Connect Core, 3.1.2.6. A browser can send them too, so none of them marks the issuer as
 * unavailable.
 */
const deniedAtIssuer: readonly string[] = [
  ...["access_denied", "unauthorized_client", "server_error", "temporarily_unavailable"],
  ...["login_required", "consent_required", "interaction_required", "account_selection_required"],
];

/** The operator must correct the cause of these, and can do so while people are signed in. */
const ownMistakes: readonly string[] = ["invalid_client", "unauthorized_client"];

const isComparison = (error: unknown): boolean =>
  error instanceof oauth.OperationProcessingError && error.code === oauth.JSON_ATTRIBUTE_COMPARISON;

/** A code that does not count ends a sign-in; a refresh token that does not count ends a session. */
const rejectedKind = { "sign-in": "invalid", recheck: "refused" } as const;

export type Phase = keyof typeof rejectedKind;

function fromErrorBody({ error, status }: oauth.ResponseBodyError, phase: Phase): OpenIdFailure {
  const reason = `the issuer answered ${status} ${protocolWord(error)}`;
  const isDown = status >= 500 || status === 429 || ownMistakes.includes(error);
  return new OpenIdFailure(isDown ? "unavailable" : rejectedKind[phase], reason);
}

function fromRedirect({ error }: oauth.AuthorizationResponseError): OpenIdFailure {
  const reason = `the issuer sent the browser back with ${protocolWord(error)}`;
  return new OpenIdFailure(deniedAtIssuer.includes(error) ? "denied" : "invalid", reason);
}

/** The errors of jose and oauth4webapi contain tokens and answers in their causes, so only their fixed words are used. */
export function toFailure(error: unknown, phase: Phase): OpenIdFailure {
  if (error instanceof OpenIdFailure) return error;
  if (error instanceof ApiError) return new OpenIdFailure("unavailable", reasonOfFailedCall(error.cause));
  if (error instanceof oauth.AuthorizationResponseError) return fromRedirect(error);
  if (error instanceof oauth.ResponseBodyError) return fromErrorBody(error, phase);
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return new OpenIdFailure(rejectedKind[phase], `the issuer's userinfo answered ${error.status}`);
  // In a recheck, only the `sub` of userinfo is compared this way.
  if (phase === "recheck" && isComparison(error))
    return new OpenIdFailure("refused", "the issuer's userinfo is about another person");
  if (error instanceof oauth.OperationProcessingError)
    return new OpenIdFailure(isNotConformant(error) ? "unavailable" : "invalid", error.message);
  if (error instanceof joseErrors.JWKSTimeout || error instanceof joseErrors.JWKSInvalid)
    return new OpenIdFailure("unavailable", "the issuer's keys cannot be read");
  if (error instanceof joseErrors.JOSEError) return new OpenIdFailure("invalid", `the ID token: ${error.code}`);
  if (error instanceof oauth.UnsupportedOperationError) return new OpenIdFailure("invalid", error.message);
  return new OpenIdFailure("unavailable", reasonOfFailedCall(error));
}
