import { createRemoteJWKSet, customFetch as joseFetch, type RemoteJWKSet } from "jose";
import { LRUCache } from "lru-cache";
import * as oauth from "oauth4webapi";
import { ApiError } from "../platform/api-error.ts";

/** The issuer did not answer, or not with what it should. The token may be good: this is 503, not 401. */
export const issuerUnavailable = (cause: unknown): ApiError =>
  new ApiError("unavailable", "The issuer of user tokens cannot be asked at the moment. Try again shortly.", {
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
  /** Keys are asked for anew when a token names one we do not know, but not more often than this. */
  readonly keysCooldownMs?: number;
}

const timeoutMs = 5000;
const keptForMs = 10 * 60_000;
const failedForMs = 2000;

export const isInsecure = (address: string): boolean => address.toLowerCase().startsWith("http:");

/** Throws where the answer is not 200: jose would call that an error of the token. */
const askingFor =
  (fetch: typeof globalThis.fetch) =>
  async (url: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(url, init).catch((error: unknown) => {
      throw issuerUnavailable(error);
    });
    if (response.status !== 200) throw issuerUnavailable(new Error(`${url} answered ${response.status}`));
    return response;
  };

/** What is known of issuers: where they publish keys and answer questions. Remembered, bounded, asked once at a time. */
export function createIssuers({ fetch, now, keysCooldownMs = 30_000 }: IssuerDeps) {
  const perf = { now };
  const known = new LRUCache<string, Promise<Issuer>>({ max: 1000, ttl: keptForMs, perf });
  const failed = new LRUCache<string, ApiError>({ max: 1000, ttl: failedForMs, perf });

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
        [joseFetch]: askingFor(fetch),
        timeoutDuration: timeoutMs,
        cooldownDuration: keysCooldownMs,
        cacheMaxAge: keptForMs,
      });
      return { server, keys };
    } catch (error) {
      const refusal = issuerUnavailable(error);
      failed.set(address, refusal);
      known.delete(address);
      throw refusal;
    }
  };

  return (address: string): Promise<Issuer> => {
    const refusal = failed.get(address);
    if (refusal) return Promise.reject(refusal);
    const found = known.get(address) ?? discover(address);
    known.set(address, found, { noUpdateTTL: true });
    return found;
  };
}

export type Issuers = ReturnType<typeof createIssuers>;
