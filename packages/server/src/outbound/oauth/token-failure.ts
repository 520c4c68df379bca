import * as oauth from "oauth4webapi";
import type { OAuthConfiguration } from "./oauth-client.ts";
import { OAuthFailure, protocolWord, subjectOf, toCallFailure, transientErrors } from "./oauth-failure.ts";

/** The request to the token endpoint, or to the one for revocations. */
export type TokenPhase = "code" | "refresh" | "machine" | "revocation";

const checkClient: Record<OAuthConfiguration["client"]["kind"], string> = {
  configured: " Compare `client_id` and `client_secret` in the tool's `connection` with the client there.",
  document:
    " It must be able to fetch its client id, which is an address of Perch: check that PERCH_PUBLIC_URL can be reached from there.",
  registered: "",
};

const clientErrors: readonly string[] = ["invalid_client", "unauthorized_client", "incorrect_client_credentials"];
/** Neither a new consent nor a retry helps. */
const requestErrors: readonly string[] = [
  "invalid_request",
  "invalid_scope",
  "invalid_target",
  "unsupported_grant_type",
];
/** The protocol's word, and those of servers that have their own, such as GitHub, Microsoft and Slack. */
const refusedErrors: readonly string[] = [
  ...["invalid_grant", "access_denied", "interaction_required", "consent_required", "login_required"],
  ...["bad_refresh_token", "invalid_refresh_token", "token_revoked", "token_expired", "invalid_token"],
  ...["bad_verification_code", "invalid_code", "code_already_used"],
];

/** A server that no longer knows the client it registered gives no tokens for it again: only a new consent has a new one. */
const refusedClient = ({ issuer, client }: OAuthConfiguration, reason: string): OAuthFailure =>
  new OAuthFailure(
    client.kind === "registered" ? "refused" : "misconfigured",
    `${subjectOf(issuer)} does not accept Perch as a client (${reason}).${checkClient[client.kind]}`,
    { isAboutClient: true },
  );

/** Only a known error ends a consent. An unknown one may come from a proxy in front of the server. */
function fromErrorBody(
  { error, status }: oauth.ResponseBodyError,
  configuration: OAuthConfiguration,
  phase: TokenPhase,
): OAuthFailure {
  const reason = `${status} ${protocolWord(error)}`;
  const subject = subjectOf(configuration.issuer);
  if (clientErrors.includes(error)) return refusedClient(configuration, reason);
  const isOfMachine = phase === "machine" || phase === "revocation";
  if ((isOfMachine && !transientErrors.includes(error)) || requestErrors.includes(error))
    return new OAuthFailure(
      "misconfigured",
      `${subject} answered ${reason}. Check the client and the scopes in the tool's \`connection\`.`,
    );
  if (!refusedErrors.includes(error)) return new OAuthFailure("unavailable", `${subject} answered ${reason}.`);
  const refused = phase === "code" ? "no longer knows this consent" : "no longer accepts the user's consent";
  return new OAuthFailure("refused", `${subject} ${refused} (${reason}).`);
}

/** Converts the failure of a request for tokens, or of their revocation. */
export function toTokenFailure(
  error: unknown,
  configuration: OAuthConfiguration,
  phase: TokenPhase,
): ReturnType<typeof toCallFailure> {
  if (error instanceof oauth.ResponseBodyError) return fromErrorBody(error, configuration, phase);
  if (error instanceof oauth.WWWAuthenticateChallengeError) return refusedClient(configuration, String(error.status));
  return toCallFailure(error, {
    subject: subjectOf(configuration.issuer),
    advice: "Ask those who run it, or name another `issuer` in the tool's `connection`.",
  });
}
