import * as oauth from "oauth4webapi";
import type { OAuthParty } from "./oauth-client.ts";
import { OAuthFailure, protocolWord, subjectOf, toCallFailure } from "./oauth-failure.ts";

/** What the token endpoint, or that for revocations, was asked for. */
export type TokenPhase = "code" | "refresh" | "machine" | "revocation";

const connectAgain = "The user must connect the account again.";
const checkClient: Record<OAuthParty["client"]["kind"], string> = {
  configured: "Compare `client_id` and `client_secret` in the tool's `connection` with the client there.",
  document:
    "It must be able to fetch its client id, which is an address of Perch: check that PERCH_PUBLIC_URL can be reached from there.",
  registered: connectAgain,
};

const clientWords: readonly string[] = ["invalid_client", "unauthorized_client", "incorrect_client_credentials"];
/** Neither a new consent nor a retry helps. */
const requestWords: readonly string[] = [
  "invalid_request",
  "invalid_scope",
  "invalid_target",
  "unsupported_grant_type",
];
const laterWords: readonly string[] = ["server_error", "temporarily_unavailable", "slow_down"];

/** A server that no longer knows the client it registered gives no tokens for it again: only a new consent has a new one. */
const refusedClient = ({ issuer, client }: OAuthParty, reason: string): OAuthFailure =>
  new OAuthFailure(
    client.kind === "registered" ? "refused" : "misconfigured",
    `${subjectOf(issuer)} does not accept Perch as a client (${reason}). ${checkClient[client.kind]}`,
  );

function fromErrorBody({ error, status }: oauth.ResponseBodyError, party: OAuthParty, phase: TokenPhase): OAuthFailure {
  const reason = `${status} ${protocolWord(error)}`;
  const subject = subjectOf(party.issuer);
  if (laterWords.includes(error))
    return new OAuthFailure("unavailable", `${subject} answered ${reason}. Try again shortly.`);
  if (clientWords.includes(error)) return refusedClient(party, reason);
  if (phase === "machine" || phase === "revocation" || requestWords.includes(error))
    return new OAuthFailure(
      "misconfigured",
      `${subject} answered ${reason}. Check the client and the scopes in the tool's \`connection\`.`,
    );
  if (phase === "code")
    return new OAuthFailure(
      "refused",
      `${subject} no longer knows this consent (${reason}). Start again with a new link.`,
    );
  return new OAuthFailure("refused", `${subject} no longer accepts the user's consent (${reason}). ${connectAgain}`);
}

const isGone = (error: unknown): boolean =>
  error instanceof oauth.OperationProcessingError &&
  error.cause instanceof Response &&
  (error.cause.status === 404 || error.cause.status === 410);

/** Of a request for tokens, or to revoke them. */
export function toTokenFailure(error: unknown, party: OAuthParty, phase: TokenPhase): ReturnType<typeof toCallFailure> {
  if (error instanceof oauth.ResponseBodyError) return fromErrorBody(error, party, phase);
  if (error instanceof oauth.WWWAuthenticateChallengeError) return refusedClient(party, String(error.status));
  if (phase === "refresh" && isGone(error))
    return new OAuthFailure(
      "refused",
      `${subjectOf(party.issuer)} is no longer there to renew the user's tokens. ${connectAgain}`,
    );
  return toCallFailure(error, {
    subject: subjectOf(party.issuer),
    advice: "Ask those who run it, or name another `issuer` in the tool's `connection`.",
  });
}
