import * as oauth from "oauth4webapi";
import { isTransientStatus } from "../outbound-errors.ts";
import type { SecretOwner } from "../secrets/find-secrets.ts";
import type { ResolveCall } from "../secrets/resolve-call.ts";
import { toClient, toServer, validateCallback } from "./authorization-request.ts";
import { authenticate } from "./client-auth.ts";
import type { LimitedFetch } from "./limited-fetch.ts";
import type { OAuthClient, OAuthParty } from "./oauth-client.ts";
import { answeredStatus, subjectOf } from "./oauth-failure.ts";
import { isInsecure } from "./secure-address.ts";
import { type TokenPhase, toTokenFailure } from "./token-failure.ts";
import { toConformResponse, toTokens } from "./token-response.ts";

export interface TokenRequestDeps {
  readonly limitedFetch: LimitedFetch;
  readonly resolveCall: ResolveCall;
  readonly now: () => number;
}

/** Longer than for metadata: a server that was cut off may have used up the code or the refresh token. */
const limitMs = 10_000;

export const callOptions = (
  limitedFetch: LimitedFetch,
  { issuer }: OAuthParty,
  signal: AbortSignal | (() => AbortSignal),
) => ({
  [oauth.customFetch]: async (url: string, request: Parameters<LimitedFetch>[1]) =>
    toConformResponse(await limitedFetch(url, { ...request, limitMs })),
  [oauth.allowInsecureRequests]: isInsecure(issuer),
  signal,
});

/** With the failures of a phase. A status that promises a better answer later is told from what the protocol says. */
export async function ask<T>(
  party: OAuthParty,
  phase: TokenPhase,
  request: () => Promise<Response>,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  try {
    const response = await request();
    if (isTransientStatus(response.status)) throw answeredStatus(response.status, subjectOf(party.issuer));
    return await read(response);
  } catch (error) {
    throw toTokenFailure(error, party, phase);
  }
}

/** Goes with every request for tokens, so that none is for more than the tool. */
const resourceParameter = ({ resourceIndicator }: OAuthParty): Record<string, string> =>
  resourceIndicator === null ? {} : { resource: resourceIndicator };

export function createTokenRequests({
  limitedFetch,
  resolveCall,
  now,
}: TokenRequestDeps): Pick<OAuthClient, "exchangeCode" | "refresh" | "clientCredentials"> {
  const present = (owner: SecretOwner, party: OAuthParty) =>
    authenticate(resolveCall, owner, party, party.tokenEndpoint);
  const optionsOf = (party: OAuthParty, signal: AbortSignal | (() => AbortSignal)) => ({
    ...callOptions(limitedFetch, party, signal),
    additionalParameters: resourceParameter(party),
  });

  return {
    exchangeCode: (owner, party, { parameters, secrets: { state, codeVerifier } }, signal) => {
      const [server, client] = [toServer(party), toClient(party)];
      const request = async () => {
        const callback = validateCallback(party, parameters, state);
        const auth = await present(owner, party);
        const options = optionsOf(party, signal);
        return oauth.authorizationCodeGrantRequest(
          server,
          client,
          auth,
          callback,
          party.redirectUri,
          codeVerifier,
          options,
        );
      };
      return ask(party, "code", request, async (response) => {
        const answer = await oauth.processAuthorizationCodeResponse(server, client, response);
        return toTokens(party, answer, { nowMs: now() });
      });
    },

    refresh: (owner, party, previous, signal) => {
      const [server, client] = [toServer(party), toClient(party)];
      const request = async () => {
        const auth = await present(owner, party);
        return oauth.refreshTokenGrantRequest(server, client, auth, previous.refreshToken, optionsOf(party, signal));
      };
      return ask(party, "refresh", request, async (response) => {
        const answer = await oauth.processRefreshTokenResponse(server, client, response);
        return toTokens(party, answer, { previous, nowMs: now() });
      });
    },

    clientCredentials: (owner, party, signal) => {
      const [server, client] = [toServer(party), toClient(party)];
      const scope = party.scopes.join(" ");
      const request = async () => {
        const auth = await present(owner, party);
        const parameters = { ...(scope !== "" && { scope }), ...resourceParameter(party) };
        const options = callOptions(limitedFetch, party, signal);
        return oauth.clientCredentialsGrantRequest(server, client, auth, parameters, options);
      };
      return ask(party, "machine", request, async (response) => {
        const answer = await oauth.processClientCredentialsResponse(server, client, response);
        // RFC 6749, 4.4.3: there should be no refresh token, because the credentials are enough.
        return { ...toTokens(party, answer, { nowMs: now() }), refreshToken: null };
      });
    },
  };
}
