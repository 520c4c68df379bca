import { hash } from "node:crypto";
import * as oauth from "oauth4webapi";
import { isInsecure } from "../outbound/oauth/secure-address.ts";
import { createLruCache } from "../platform/lru-cache.ts";
import { type Issuer, type IssuerDeps, issuerTimeoutMs, issuerUnavailable } from "./oauth-issuer.ts";

interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The issuer's claims about an opaque token; null if the token is not active. */
export type Introspect = (
  organisationId: string,
  issuer: Issuer,
  client: OAuthClient,
  token: string,
) => Promise<Readonly<Record<string, unknown>> | null>;

/** A token that is revoked at the issuer still works for up to this long. */
const cacheTtlMs = 30_000;

/** Token introspection (RFC 7662), cached by a hash of the token. */
export function createIntrospect({ fetch, now, share }: IssuerDeps): Introspect {
  const cache = createLruCache<string, { readonly claims: Readonly<Record<string, unknown>> | null }>(10_000, {
    ttl: cacheTtlMs,
    perf: { now },
  });

  const requestIntrospection = async ({ server }: Issuer, { clientId, clientSecret }: OAuthClient, token: string) => {
    try {
      const client = { client_id: clientId };
      const response = await oauth.introspectionRequest(server, client, oauth.ClientSecretBasic(clientSecret), token, {
        [oauth.customFetch]: (to, init) => fetch(to, init as RequestInit),
        [oauth.allowInsecureRequests]: isInsecure(server.issuer),
        signal: AbortSignal.timeout(issuerTimeoutMs),
      });
      const claims = await oauth.processIntrospectionResponse(server, client, response);
      return claims.active === true ? claims : null;
    } catch (error) {
      throw issuerUnavailable(error);
    }
  };

  return async (organisationId, issuer, client, token) => {
    // With the client's secret: a wrong one must not be answered from what the right one was told.
    const asked = [issuer.server.issuer, client.clientId, client.clientSecret, token];
    const cacheKey = hash("sha256", JSON.stringify(asked), "base64");
    const cached = cache.get(cacheKey);
    if (cached) return cached.claims;
    // One organisation can neither flood its issuer nor, with a slow one, use up the calls that others need.
    const claims = await share.hold(organisationId, () => requestIntrospection(issuer, client, token));
    cache.set(cacheKey, { claims });
    return claims;
  };
}
