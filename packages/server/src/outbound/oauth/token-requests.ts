import * as oauth from "oauth4webapi";
import { isTransientStatus } from "../outbound-errors.ts";
import type { SecretOwner } from "../secrets/find-secrets.ts";
import type { ResolveCall } from "../secrets/resolve-call.ts";
import { toClient, toServer, validateCallback } from "./authorization-request.ts";
import type { LimitedFetch } from "./limited-fetch.ts";
import type { OAuthClient, OAuthParty, OAuthTokens } from "./oauth-client.ts";
import { answeredStatus, subjectOf } from "./oauth-failure.ts";
import { isInsecure } from "./secure-address.ts";
import { type TokenPhase, toTokenFailure } from "./token-failure.ts";
import { toConformResponse, toTokens } from "./token-response.ts";

interface TokenRequestDeps {
  readonly limitedFetch: LimitedFetch;
  readonly resolveCall: ResolveCall;
  readonly now: () => number;
}

/** The secret of a client, just before it is sent to `url`. A configured one is refused unless its `hosts` name that address. */
async function findClientSecret(
  resolveCall: ResolveCall,
  owner: SecretOwner,
  { client, issuer }: OAuthParty,
  url: string,
) {
  if (client.kind === "document") return undefined;
  if (client.kind === "registered" || client.clientSecret === undefined) return client.clientSecret;
  const call = { subject: subjectOf(issuer), url, headers: { authorization: client.clientSecret } };
  return (await resolveCall(owner, call)).headers.authorization;
}

function toClientAuth({ authMethod }: OAuthParty, secret: string | undefined): oauth.ClientAuth {
  if (secret === undefined || authMethod === "none") return oauth.None();
  return authMethod === "client_secret_post" ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

type TokenRequests = Pick<OAuthClient, "exchangeCode" | "refresh" | "clientCredentials" | "revoke">;

export function createTokenRequests({ limitedFetch, resolveCall, now }: TokenRequestDeps): TokenRequests {
  const callOptions = ({ issuer }: OAuthParty, signal: AbortSignal) => ({
    [oauth.customFetch]: async (url: string, request: Parameters<LimitedFetch>[1]) =>
      toConformResponse(await limitedFetch(url, request)),
    [oauth.allowInsecureRequests]: isInsecure(issuer),
    signal,
  });

  const authenticate = async (owner: SecretOwner, party: OAuthParty, url: string) =>
    toClientAuth(party, await findClientSecret(resolveCall, owner, party, url));

  /** With the failures of a phase. A status that promises a better answer later is told from what the protocol says. */
  const ask = async <T>(
    party: OAuthParty,
    phase: TokenPhase,
    request: () => Promise<Response>,
    read: (response: Response) => Promise<T>,
  ): Promise<T> => {
    try {
      const response = await request();
      if (isTransientStatus(response.status))
        throw answeredStatus(response.status, { subject: subjectOf(party.issuer), advice: "" });
      return await read(response);
    } catch (error) {
      throw toTokenFailure(error, party, phase);
    }
  };

  const resourceParameter = ({ resourceIndicator }: OAuthParty): Record<string, string> =>
    resourceIndicator === null ? {} : { resource: resourceIndicator };

  return {
    exchangeCode: (owner, party, { parameters, secrets }, signal) =>
      ask(
        party,
        "code",
        async () =>
          oauth.authorizationCodeGrantRequest(
            toServer(party),
            toClient(party),
            await authenticate(owner, party, party.tokenEndpoint),
            validateCallback(party, parameters, secrets.state),
            party.redirectUri,
            secrets.codeVerifier,
            { ...callOptions(party, signal), additionalParameters: resourceParameter(party) },
          ),
        async (response) =>
          toTokens(party, await oauth.processAuthorizationCodeResponse(toServer(party), toClient(party), response), {
            previous: null,
            nowMs: now(),
          }),
      ),

    refresh: (owner, party, refreshToken, signal) =>
      ask(
        party,
        "refresh",
        async () =>
          oauth.refreshTokenGrantRequest(
            toServer(party),
            toClient(party),
            await authenticate(owner, party, party.tokenEndpoint),
            refreshToken,
            { ...callOptions(party, signal), additionalParameters: resourceParameter(party) },
          ),
        async (response) =>
          toTokens(party, await oauth.processRefreshTokenResponse(toServer(party), toClient(party), response), {
            previous: refreshToken,
            nowMs: now(),
          }),
      ),

    clientCredentials: (owner, party, signal) =>
      ask(
        party,
        "machine",
        async () =>
          oauth.clientCredentialsGrantRequest(
            toServer(party),
            toClient(party),
            await authenticate(owner, party, party.tokenEndpoint),
            { ...(party.scopes.length > 0 && { scope: party.scopes.join(" ") }), ...resourceParameter(party) },
            callOptions(party, signal),
          ),
        async (response): Promise<OAuthTokens> => ({
          ...toTokens(party, await oauth.processClientCredentialsResponse(toServer(party), toClient(party), response), {
            previous: null,
            nowMs: now(),
          }),
          // RFC 6749, 4.4.3: there should be none, because the credentials are enough.
          refreshToken: null,
        }),
      ),

    revoke: async (owner, party, { accessToken, refreshToken }, signal) => {
      const { revocationEndpoint } = party;
      if (revocationEndpoint === null) return "not_offered";
      // A server ends the whole consent with its refresh token (RFC 7009).
      const [token, hint] = refreshToken === null ? [accessToken, "access_token"] : [refreshToken, "refresh_token"];
      const request = async () =>
        oauth.revocationRequest(
          toServer(party),
          toClient(party),
          await authenticate(owner, party, revocationEndpoint),
          token,
          { ...callOptions(party, signal), additionalParameters: { token_type_hint: hint } },
        );
      const isKnown = async (response: Response): Promise<"done" | "not_offered"> => {
        const error = await oauth.processRevocationResponse(response).then(
          () => undefined,
          (failure: unknown) => failure,
        );
        const word = error instanceof oauth.ResponseBodyError ? error.error : undefined;
        if (error === undefined || word === "invalid_token" || word === "invalid_grant") return "done";
        if (word === "unsupported_token_type") return "not_offered";
        throw error;
      };
      return ask(party, "revocation", request, isKnown);
    },
  };
}
