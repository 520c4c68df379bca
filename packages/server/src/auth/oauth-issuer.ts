import { createRemoteJWKSet, customFetch as joseFetch, type RemoteJWKSet } from "jose";
import { LRUCache } from "lru-cache";
import * as oauth from "oauth4webapi";
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
  /** Keys are fetched again when a token names an unknown one, but not more often than this. */
  readonly keysCooldownMs?: number;
}

const timeoutMs = 5000;
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

/** Discovers an issuer's endpoints and keys. Results and failures are cached; concurrent calls share one discovery. */
export function createFindIssuer({ fetch, now, keysCooldownMs = 30_000 }: IssuerDeps) {
  const perf = { now };
  const cache = new LRUCache<string, Promise<Issuer>>({ max: 1000, ttl: cacheTtlMs, perf });
  const failures = new LRUCache<string, ApiError>({ max: 1000, ttl: failureTtlMs, perf });

  const discover = async (address: string): Promise<Issuer> => {
    const url = new URL(address);
    try {
      const response = await oauth.discoveryRequest(url, {
        [oauth.customFetch]: (to, { method, headers, signal }) =>
          fetch(to, { method, headers, signal: signal ?? null }),
        [oauth.allowInsecureRequests]: isInsecure(address),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const server = await oauth.processDiscoveryResponse(url, response);
      if (!server.jwks_uri) throw new Error("the issuer publishes no keys");
      if (isInsecure(server.jwks_uri) && !isInsecure(address)) throw new Error("the issuer publishes keys over http");
      const keys = createRemoteJWKSet(new URL(server.jwks_uri), {
        [joseFetch]: createJwksFetch(fetch),
        timeoutDuration: timeoutMs,
        cooldownDuration: keysCooldownMs,
        cacheMaxAge: cacheTtlMs,
      });
      return { server, keys };
    } catch (error) {
      const refusal = issuerUnavailable(error);
      failures.set(address, refusal);
      cache.delete(address);
      throw refusal;
    }
  };

  return (address: string): Promise<Issuer> => {
    const refusal = failures.get(address);
    if (refusal) return Promise.reject(refusal);
    const issuer = cache.get(address) ?? discover(address);
    cache.set(address, issuer, { noUpdateTTL: true });
    return issuer;
  };
}

export type FindIssuer = ReturnType<typeof createFindIssuer>;
