import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import * as oauth from "oauth4webapi";
import { type Issuer, isInsecure, issuerUnavailable } from "./oauth-issuer.ts";

interface IntrospectionDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
}

interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The issuer's claims about an opaque token; null if the token is not active. */
export type Introspect = (
  issuer: Issuer,
  client: OAuthClient,
  token: string,
) => Promise<Readonly<Record<string, unknown>> | null>;

const timeoutMs = 5000;
/** A token that is revoked at the issuer still works for up to this long. */
const cacheTtlMs = 30_000;
/** Above this, requests are refused at once, so as not to flood the issuer. */
const maxConcurrentRequests = 32;

/** Token introspection (RFC 7662), cached by a hash of the token. */
export function createIntrospect({ fetch, now }: IntrospectionDeps): Introspect {
  const cache = new LRUCache<string, { readonly claims: Readonly<Record<string, unknown>> | null }>({
    max: 10_000,
    ttl: cacheTtlMs,
    perf: { now },
  });
  let inFlight = 0;

  const requestIntrospection: Introspect = async ({ server }, { clientId, clientSecret }, token) => {
    if (inFlight >= maxConcurrentRequests)
      throw issuerUnavailable(new Error("too many concurrent introspection requests"));
    inFlight += 1;
    try {
      const client = { client_id: clientId };
      const response = await oauth.introspectionRequest(server, client, oauth.ClientSecretBasic(clientSecret), token, {
        [oauth.customFetch]: (to, init) => fetch(to, init as RequestInit),
        [oauth.allowInsecureRequests]: isInsecure(server.issuer),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const claims = await oauth.processIntrospectionResponse(server, client, response);
      return claims.active === true ? claims : null;
    } catch (error) {
      throw issuerUnavailable(error);
    } finally {
      inFlight -= 1;
    }
  };

  return async (issuer, client, token) => {
    const cacheKey = hash("sha256", JSON.stringify([issuer.server.issuer, client.clientId, token]), "base64");
    const cached = cache.get(cacheKey);
    if (cached) return cached.claims;
    const claims = await requestIntrospection(issuer, client, token);
    cache.set(cacheKey, { claims });
    return claims;
  };
}
