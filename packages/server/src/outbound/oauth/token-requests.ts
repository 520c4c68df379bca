import * as oauth from "oauth4webapi";
import { isTransientStatus } from "../outbound-errors.ts";
import type { SecretOwner } from "../secrets/find-secrets.ts";
import type { ResolveCall } from "../secrets/resolve-call.ts";
import { toClient, toServer, validateCallback } from "./authorization-request.ts";
import { authenticate } from "./client-auth.ts";
import type { LimitedFetch } from "./limited-fetch.ts";
import type { OAuthClient, OAuthConfiguration } from "./oauth-client.ts";
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
  { issuer }: OAuthConfiguration,
  signal: AbortSignal | (() => AbortSignal),
) => ({
  [oauth.customFetch]: async (url: string, request: Parameters<LimitedFetch>[1]) =>
    toConformResponse(await limitedFetch(url, { ...request, limitMs })),
  [oauth.allowInsecureRequests]: isInsecure(issuer),
  signal,
});

/** Uses the failures of a phase. A temporary status is distinguished from errors of the protocol. */
export async function ask<T>(
  configuration: OAuthConfiguration,
  phase: TokenPhase,
  request: () => Promise<Response>,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  try {
    const response = await request();
    if (isTransientStatus(response.status)) throw answeredStatus(response.status, subjectOf(configuration.issuer));
    return await read(response);
  } catch (error) {
    throw toTokenFailure(error, configuration, phase);
  }
}

/** Goes with every request for tokens, so that none is for more than the tool. */
const resourceParameter = ({ resourceIndicator }: OAuthConfiguration): Record<string, string> =>
  resourceIndicator === null ? {} : { resource: resourceIndicator };

export function createTokenRequests({
  limitedFetch,
  resolveCall,
  now,
}: TokenRequestDeps): Pick<OAuthClient, "exchangeCode" | "refresh" | "clientCredentials"> {
  const present = (owner: SecretOwner, configuration: OAuthConfiguration) =>
    authenticate(resolveCall, owner, configuration, configuration.tokenEndpoint);
  const optionsOf = (configuration: OAuthConfiguration, signal: AbortSignal | (() => AbortSignal)) => ({
    ...callOptions(limitedFetch, configuration, signal),
    additionalParameters: resourceParameter(configuration),
  });

  return {
    exchangeCode: (owner, configuration, { parameters, secrets: { state, codeVerifier } }, signal) => {
      const [server, client] = [toServer(configuration), toClient(configuration)];
      const request = async () => {
        const callback = validateCallback(configuration, parameters, state);
        const auth = await present(owner, configuration);
        const options = optionsOf(configuration, signal);
        return oauth.authorizationCodeGrantRequest(
          server,
          client,
          auth,
          callback,
          configuration.redirectUri,
          codeVerifier,
          options,
        );
      };
      return ask(configuration, "code", request, async (response) => {
        const answer = await oauth.processAuthorizationCodeResponse(server, client, response);
        return toTokens(configuration, answer, { nowMs: now() });
      });
    },

    refresh: (owner, configuration, previous, signal) => {
      const [server, client] = [toServer(configuration), toClient(configuration)];
      const request = async () => {
        const auth = await present(owner, configuration);
        return oauth.refreshTokenGrantRequest(
          server,
          client,
          auth,
          previous.refreshToken,
          optionsOf(configuration, signal),
        );
      };
      return ask(configuration, "refresh", request, async (response) => {
        const answer = await oauth.processRefreshTokenResponse(server, client, response);
        return toTokens(configuration, answer, { previous, nowMs: now() });
      });
    },

    clientCredentials: (owner, configuration, signal) => {
      const [server, client] = [toServer(configuration), toClient(configuration)];
      const scope = configuration.scopes.join(" ");
      const request = async () => {
        const auth = await present(owner, configuration);
        const parameters = { ...(scope !== "" && { scope }), ...resourceParameter(configuration) };
        const options = callOptions(limitedFetch, configuration, signal);
        return oauth.clientCredentialsGrantRequest(server, client, auth, parameters, options);
      };
      return ask(configuration, "machine", request, async (response) => {
        const answer = await oauth.processClientCredentialsResponse(server, client, response);
        // RFC 6749, 4.4.3: there should be no refresh token, because the credentials are enough.
        return { ...toTokens(configuration, answer, { nowMs: now() }), refreshToken: null };
      });
    },
  };
}
