import * as oauth from "oauth4webapi";
import type { ConsentSecrets, OAuthClient, OAuthConfiguration } from "./oauth-client.ts";
import { OAuthFailure, protocolWord, subjectOf, transientErrors } from "./oauth-failure.ts";

export const toServer = (configuration: OAuthConfiguration): oauth.AuthorizationServer => ({
  issuer: configuration.issuer,
  token_endpoint: configuration.tokenEndpoint,
  authorization_response_iss_parameter_supported: configuration.namesItself,
  ...(configuration.revocationEndpoint !== null && { revocation_endpoint: configuration.revocationEndpoint }),
});

export const toClient = ({ client }: OAuthConfiguration): oauth.Client => ({ client_id: client.clientId });

export const newConsentSecrets = (state: string): ConsentSecrets => ({
  state,
  codeVerifier: oauth.generateRandomCodeVerifier(),
});

/**
 * OpenID Connect wants `prompt=consent` with `offline_access`. Google has no such scope: it gives refresh tokens for a parameter of its
 * own, and only when it asks for consent.
 */
function consentParameters({ issuer, scopes }: OAuthConfiguration): Record<string, string> {
  if (issuer === "https://accounts.google.com") return { access_type: "offline", prompt: "consent" };
  return scopes.includes("offline_access") ? { prompt: "consent" } : {};
}

export const authorizationUrl: OAuthClient["authorizationUrl"] = async (configuration, { state, codeVerifier }) => {
  if (configuration.authorizationEndpoint === null) throw new TypeError("a machine's account needs no consent");
  const url = new URL(configuration.authorizationEndpoint);
  const parameters = {
    response_type: "code",
    client_id: configuration.client.clientId,
    redirect_uri: configuration.redirectUri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
    ...(configuration.scopes.length > 0 && { scope: configuration.scopes.join(" ") }),
    ...(configuration.resourceIndicator !== null && { resource: configuration.resourceIndicator }),
    ...consentParameters(configuration),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
};

const deniedErrors: readonly string[] = [
  "access_denied",
  ...["login_required", "consent_required", "interaction_required", "account_selection_required"],
];
const requestErrors: readonly string[] = [
  ...["invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope", "invalid_target"],
];

function fromRedirect(subject: string, error: string): OAuthFailure {
  const reason = `${subject} sent the browser back with ${protocolWord(error)}`;
  if (deniedErrors.includes(error)) return new OAuthFailure("denied", `${reason}: access was not allowed.`);
  if (transientErrors.includes(error)) return new OAuthFailure("unavailable", `${reason}.`);
  if (requestErrors.includes(error))
    return new OAuthFailure(
      "misconfigured",
      `${reason}. Check the client and the scopes in the tool's \`connection\`.`,
    );
  return new OAuthFailure("invalid", `${reason}.`);
}

const codePattern = /^[\x20-\x7e]{1,4096}$/;

/** The parameters, if they have a code that may be exchanged. */
export function validateCallback(
  configuration: OAuthConfiguration,
  parameters: URLSearchParams,
  state: string,
): URLSearchParams {
  const subject = subjectOf(configuration.issuer);
  try {
    const valid = oauth.validateAuthResponse(toServer(configuration), toClient(configuration), parameters, state);
    const codes = valid.getAll("code");
    if (codes.length === 1 && codePattern.test(codes[0] ?? "")) return valid;
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) throw fromRedirect(subject, error.error);
    if (!(error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError))
      throw error;
  }
  throw new OAuthFailure("invalid", `${subject} sent the browser back with what was not made for this consent.`);
}

export const checkCallback: OAuthClient["checkCallback"] = (configuration, parameters, state) => {
  validateCallback(configuration, parameters, state);
};
