import * as oauth from "oauth4webapi";
import { isTransientStatus } from "../outbound-errors.ts";
import { createDiscoveryCache, type DiscoveryCache } from "./cached-discovery.ts";
import type { LimitedFetch } from "./limited-fetch.ts";
import { authMethods, offlineAccess } from "./oauth-client.ts";
import { answeredStatus, type FailureContext, OAuthFailure, subjectOf, toCallFailure } from "./oauth-failure.ts";
import { isPlainIssuer } from "./redirect-address.ts";
import { parseSecureAddress } from "./secure-address.ts";

interface DiscoverServerDeps {
  readonly limitedFetch: LimitedFetch;
  readonly now: () => number;
}

const advice = "Correct `issuer` in the tool's `connection`, or ask those who run the server.";
const contextOf = (issuer: string): FailureContext => ({ subject: subjectOf(issuer), advice });

/** RFC 8414 first, then OpenID Connect Discovery as servers with a path in their issuer have it: inserted, or appended. */
export function metadataAddresses(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const inserted = ["oauth-authorization-server", "openid-configuration"].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  );
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

/** Undefined if there is none at this address. Servers answer in many ways if they have none. */
async function readMetadata(response: Response): Promise<object | undefined> {
  if (response.status !== 200) return undefined;
  const body: unknown = await response.json().catch(() => undefined);
  return typeof body === "object" && body !== null && "issuer" in body ? body : undefined;
}

const maxAddressLength = 2048;
const usedAddresses = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "revocation_endpoint",
] as const satisfies (keyof oauth.AuthorizationServer)[];

const keepWords = (words: unknown, used: readonly string[]): string[] | undefined => {
  if (words === undefined) return undefined;
  return Array.isArray(words) ? used.filter((word) => words.includes(word)) : [];
};

/** A thousand are kept, and each may be as large as a body. */
function keepUsed(server: oauth.AuthorizationServer): oauth.AuthorizationServer {
  const { authorization_response_iss_parameter_supported, client_id_metadata_document_supported } = server;
  const words = {
    code_challenge_methods_supported: keepWords(server.code_challenge_methods_supported, ["S256"]),
    scopes_supported: keepWords(server.scopes_supported, [offlineAccess]),
    token_endpoint_auth_methods_supported: keepWords(server.token_endpoint_auth_methods_supported, authMethods),
  };
  const addresses = usedAddresses.map((name) => [name, server[name]] as const);
  const isKept = (address: unknown) => typeof address === "string" && address.length <= maxAddressLength;
  return {
    issuer: server.issuer,
    ...Object.fromEntries(addresses.filter(([, address]) => isKept(address))),
    ...Object.fromEntries(Object.entries(words).filter(([, kept]) => kept !== undefined)),
    authorization_response_iss_parameter_supported: authorization_response_iss_parameter_supported === true,
    client_id_metadata_document_supported: client_id_metadata_document_supported === true,
  };
}

const otherIssuer = (issuer: string): OAuthFailure =>
  new OAuthFailure("invalid", `${subjectOf(issuer)} says that its issuer is not ${issuer}. ${advice}`);

const noMetadata = (issuer: string): OAuthFailure =>
  new OAuthFailure("misconfigured", `${subjectOf(issuer)} publishes no metadata (RFC 8414). ${advice}`);

const notAnIssuer = (): OAuthFailure =>
  new OAuthFailure(
    "misconfigured",
    "An authorization server is named by an https address in lower case, without a query. Name it as `issuer` in the tool's `connection`.",
  );

/**
 * The metadata of an authorization server, by its issuer. Every failure is an `OAuthFailure` or a
 * `RefusedAddressError`.
 */
export function createDiscoverServer({
  limitedFetch,
  now,
}: DiscoverServerDeps): DiscoveryCache<oauth.AuthorizationServer> {
  const discover = async (issuer: string): Promise<oauth.AuthorizationServer> => {
    if (!parseSecureAddress(issuer) || !isPlainIssuer(issuer)) throw notAnIssuer();
    let failure: OAuthFailure | undefined;
    for (const address of metadataAddresses(issuer)) {
      const response = await limitedFetch(address, { method: "GET", headers: { accept: "application/json" } });
      if (isTransientStatus(response.status)) failure ??= answeredStatus(response.status, subjectOf(issuer));
      const metadata = await readMetadata(response);
      if (!metadata) continue;
      const server = await oauth
        .processDiscoveryResponse(new URL(issuer), Response.json(metadata))
        .catch(() => undefined);
      if (server) return keepUsed(server);
      failure ??= otherIssuer(issuer);
    }
    throw failure ?? noMetadata(issuer);
  };
  return createDiscoveryCache({
    discover,
    toFailure: (error, issuer) => toCallFailure(error, contextOf(issuer)),
    now,
  });
}
