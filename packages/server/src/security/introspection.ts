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

/** What the issuer says of an opaque token; null where it knows none. */
export type Introspect = (
  issuer: Issuer,
  client: OAuthClient,
  token: string,
) => Promise<Readonly<Record<string, unknown>> | null>;

const timeoutMs = 5000;
/** A token that was revoked at the issuer works for this much longer. */
const keptForMs = 30_000;
/** Past this, new tokens wait for nobody: an issuer is not ours to flood. */
const mostAtOnce = 32;

/** RFC 7662, remembered by a hash of the token. */
export function createIntrospect({ fetch, now }: IntrospectionDeps): Introspect {
  const known = new LRUCache<string, { readonly claims: Readonly<Record<string, unknown>> | null }>({
    max: 10_000,
    ttl: keptForMs,
    perf: { now },
  });
  let asking = 0;

  const ask: Introspect = async ({ server }, { clientId, clientSecret }, token) => {
    if (asking >= mostAtOnce) throw issuerUnavailable(new Error("too many questions at once"));
    asking += 1;
    try {
      const client = { client_id: clientId };
      const response = await oauth.introspectionRequest(server, client, oauth.ClientSecretBasic(clientSecret), token, {
        [oauth.customFetch]: (to, init) => fetch(to, init as RequestInit),
        [oauth.allowInsecureRequests]: isInsecure(server.issuer),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const answer = await oauth.processIntrospectionResponse(server, client, response);
      return answer.active === true ? answer : null;
    } catch (error) {
      throw issuerUnavailable(error);
    } finally {
      asking -= 1;
    }
  };

  return async (issuer, client, token) => {
    const name = hash("sha256", JSON.stringify([issuer.server.issuer, client.clientId, token]), "base64");
    const kept = known.get(name);
    if (kept) return kept.claims;
    const claims = await ask(issuer, client, token);
    known.set(name, { claims });
    return claims;
  };
}
