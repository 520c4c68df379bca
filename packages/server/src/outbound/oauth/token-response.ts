import { maxScopes, scopePattern } from "@perch/contract";
import type { TokenEndpointResponse } from "oauth4webapi";
import type { GrantedTokens, OAuthConfiguration, OAuthTokens } from "./oauth-client.ts";
import { OAuthFailure, subjectOf } from "./oauth-failure.ts";

type Body = Record<string, unknown>;

const isObject = (body: unknown): body is Body => typeof body === "object" && body !== null && !Array.isArray(body);

const optional = ["refresh_token", "scope", "expires_in"];

/** An empty field, or a lifetime of zero, counts as missing. */
const isSaid = (name: string, value: unknown): boolean =>
  value !== null && value !== "" && !(name === "expires_in" && !(Number.parseFloat(String(value)) > 0));

/**
 * Adapts the response for the library. An ID token beside the tokens is dropped unread: it names the person at the
 * server, and the application decides whose connection it is. Some servers answer errors with 200.
 */
export async function toConformResponse(response: Response): Promise<Response> {
  if (response.status !== 200) return response;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (!isObject(body)) return response;
  if (typeof body.error === "string" && body.access_token === undefined) return Response.json(body, { status: 400 });
  const kept = Object.entries(body).filter(
    ([name, value]) => name !== "id_token" && (!optional.includes(name) || isSaid(name, value)),
  );
  return Response.json(Object.fromEntries(kept));
}

/** A token that fits in a header, and is long enough to be found in an answer and removed from it. */
const tokenPattern = /^[\x21-\x7e]{8,8192}$/;
const maxLifeSeconds = 365 * 24 * 60 * 60;

export function toTokens(
  configuration: OAuthConfiguration,
  answer: TokenEndpointResponse,
  { previous, nowMs }: { readonly previous?: GrantedTokens; readonly nowMs: number },
): OAuthTokens {
  const { access_token, token_type, refresh_token, expires_in, scope } = answer;
  const given = [access_token, ...(refresh_token === undefined ? [] : [refresh_token])];
  if (token_type !== "bearer" || !given.every((token) => tokenPattern.test(token)))
    throw new OAuthFailure(
      "invalid",
      `${subjectOf(configuration.issuer)} gives tokens that cannot be sent as a bearer token. Ask those who run it.`,
    );
  return {
    accessToken: access_token,
    refreshToken: refresh_token ?? previous?.refreshToken ?? null,
    expiresAtMs: expires_in === undefined ? null : nowMs + Math.min(expires_in, maxLifeSeconds) * 1000,
    scopes:
      scope === undefined
        ? (previous?.scopes ?? configuration.scopes)
        : scope
            .split(" ")
            .filter((text) => scopePattern.test(text))
            .slice(0, maxScopes),
  };
}
