import { createRemoteJWKSet, customFetch as joseFetch, type RemoteJWKSet } from "jose";
import { LRUCache } from "lru-cache";
import * as oauth from "oauth4webapi";
import { ApiError } from "../platform/api-error.ts";
import type { Share } from "../platform/shares.ts";

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
  /** Of the calls to issuers under way. A request that waits for an issuer holds one. */
  readonly share: Pick<Share, "hold">;
  /** Keys are fetched again when a token names an unknown one, but not more often than this. */
  readonly keysCooldownMs?: number;
}

/** Short: a request waits meanwhile, and holds a part of its organisation's share. */
export const issuerTimeoutMs = 3000;
const cacheTtlMs = 10 * 60_000;
const failureTtlMs = 2000;

export const isInsecure = (address: string): boolean => address.toLowerCase().startsWith("http:");

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
  const perf = { now };
  const discovering = new Map<string, Promise<Issuer>>();
  const cache = new LRUCache<string, Issuer>({ max: 1000, ttl: cacheTtlMs, perf });
  const failures = new LRUCache<string, ApiError>({ max: 1000, ttl: failureTtlMs, perf });

  const discover = async (address: string): Promise<Issuer> => {
    const url = new URL(address);
    try {
      const response = await oauth.discoveryRequest(url, {
        [oauth.customFetch]: (to, { method, headers, signal }) =>
          fetch(to, { method, headers, signal: signal ?? null }),
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
        cacheMaxAge: cacheTtlMs,
      });
      const issuer = { server, keys };
      cache.set(address, issuer);
      return issuer;
    } catch (error) {
      const refusal = issuerUnavailable(error);
      failures.set(address, refusal);
      throw refusal;
    } finally {
      discovering.delete(address);
    }
  };

  /** Throws if it failed lately. */
  const findKnown = (address: string): Issuer | undefined => {
    const refusal = failures.get(address);
    if (refusal) throw refusal;
    return cache.get(address);
  };

  const discoverOnce = (address: string): Promise<Issuer> => {
    const discovery = discovering.get(address) ?? discover(address);
    discovering.set(address, discovery);
    return discovery;
  };

  return async (organisationId, address) =>
    findKnown(address) ?? share.hold(organisationId, async () => findKnown(address) ?? (await discoverOnce(address)));
}
