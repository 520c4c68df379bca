import { createRemoteJWKSet, customFetch as joseFetch, type RemoteJWKSet } from "jose";
import * as oauth from "oauth4webapi";
import type { Share } from "../fairness/shares.ts";
import { createDiscoveryCache, discoveryTtlMs } from "../outbound/oauth/cached-discovery.ts";
import { isInsecure } from "../outbound/oauth/secure-address.ts";
import { ApiError } from "../platform/api-error.ts";

/** The issuer did not respond, or not as expected. The token may be valid: this is 503, not 401. */
export const issuerUnavailable = (cause: unknown): ApiError =>
  new ApiError("unavailable", "The issuer of user tokens cannot be reached at the moment. Try again shortly.", {
    retryAfterSeconds: 5,
    cause,
  });

export interface Issuer {
  readonly server: oauth.AuthorizationServer;
  readonly keys: RemoteJWKSet;
}

export interface IssuerDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  /** The share of calls to issuers under way. A request that waits for an issuer takes one. */
  readonly share: Pick<Share, "hold">;
  /** Keys are fetched again when a token names an unknown one, but not more often than this. */
  readonly keysCooldownMs?: number;
}

/** Short, because a request waits in the meantime, and uses a part of its organisation's share. */
export const issuerTimeoutMs = 3000;

/** Throws `issuerUnavailable` unless the response is 200: jose would report an invalid token. */
const createJwksFetch =
  (fetch: typeof globalThis.fetch) =>
  async (url: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(url, init).catch((error: unknown) => {
      throw issuerUnavailable(error);
    });
    if (response.status !== 200) throw issuerUnavailable(new Error(`${url} answered ${response.status}`));
    return response;
  };

/** Discovers an issuer's endpoints and keys for an organisation. */
export type FindIssuer = (organisationId: string, address: string) => Promise<Issuer>;

/** Results and failures are cached; concurrent calls share one discovery. */
export function createFindIssuer({ fetch, now, share, keysCooldownMs = 30_000 }: IssuerDeps): FindIssuer {
  const discover = async (address: string): Promise<Issuer> => {
    const url = new URL(address);
    const response = await oauth.discoveryRequest(url, {
      [oauth.customFetch]: (to, { method, headers, signal }) => fetch(to, { method, headers, signal: signal ?? null }),
      [oauth.allowInsecureRequests]: isInsecure(address),
      signal: AbortSignal.timeout(issuerTimeoutMs),
    });
    const server = await oauth.processDiscoveryResponse(url, response);
    if (!server.jwks_uri) throw new Error("the issuer publishes no keys");
    if (isInsecure(server.jwks_uri) && !isInsecure(address)) throw new Error("the issuer publishes keys over http");
    const keys = createRemoteJWKSet(new URL(server.jwks_uri), {
      [joseFetch]: createJwksFetch(fetch),
      timeoutDuration: issuerTimeoutMs,
      cooldownDuration: keysCooldownMs,
      cacheMaxAge: discoveryTtlMs,
    });
    return { server, keys };
  };
  const issuers = createDiscoveryCache({ discover, toFailure: issuerUnavailable, now });

  return async (organisationId, address) =>
    issuers.findKnown(address) ??
    share.hold(organisationId, async () => issuers.findKnown(address) ?? (await issuers.discover(address)));
}
