import type { AuthorizationServer } from "oauth4webapi";
import type { DiscoveryCache } from "./cached-discovery.ts";
import { createFindClient } from "./find-client.ts";
import type { LimitedFetch } from "./limited-fetch.ts";
import { type OAuthClient, type OAuthConfiguration, type OAuthTool, offlineAccess } from "./oauth-client.ts";
import { OAuthFailure, subjectOf, waitForServer } from "./oauth-failure.ts";
import { type FindProtectedResource, type ProtectedResource, staticAddress } from "./protected-resource.ts";
import { isPlainIssuer, noPublicUrl, redirectAddress } from "./redirect-address.ts";
import { parseLinkedAddress, parseSecureAddress } from "./secure-address.ts";

interface DiscoverConfigurationDeps {
  readonly limitedFetch: LimitedFetch;
  readonly servers: DiscoveryCache<AuthorizationServer>;
  readonly findProtectedResource: FindProtectedResource;
  readonly publicUrl: string | undefined;
  readonly now: () => number;
}

const misconfigured = (message: string): OAuthFailure => new OAuthFailure("misconfigured", message);

function readEndpoint(server: AuthorizationServer, name: "authorization_endpoint" | "token_endpoint"): string {
  const { issuer, [name]: address } = server;
  if (parseLinkedAddress(address, issuer)) return String(address);
  throw new OAuthFailure(
    "invalid",
    `${subjectOf(issuer)} has no https address as its ${name}. Ask those who run it, or name another \`issuer\` in the tool's \`connection\`.`,
  );
}

/** OAuth 2.1 wants PKCE. Without it, a code that was stolen or injected could be exchanged. */
function requirePkce(
  { issuer, code_challenge_methods_supported: methods }: AuthorizationServer,
  isNamed: boolean,
): void {
  if (methods === undefined && isNamed) return;
  if (methods === undefined)
    throw misconfigured(
      `${subjectOf(issuer)} does not say that it has PKCE. If you know that it has, name ${issuer} as \`issuer\` in the tool's \`connection\`.`,
    );
  if (!(Array.isArray(methods) && methods.includes("S256")))
    throw misconfigured(
      `${subjectOf(issuer)} does not have PKCE with S256, without which Perch does not ask users for consent.`,
    );
}

/** The resource that the tokens are for. An MCP server is always named, so that its tokens are useless elsewhere. */
const toResourceIndicator = (
  { type, url, connection }: OAuthTool,
  found: ProtectedResource | undefined,
): string | null => connection.resource ?? found?.resource ?? (type === "mcp" ? staticAddress(url) : null);

/** Without `offline_access`, servers that know it give no refresh token, and users would have to consent every hour. */
function toScopes(
  { connection }: OAuthTool,
  found: ProtectedResource | undefined,
  server: AuthorizationServer,
): readonly string[] {
  if (connection.scopes) return connection.scopes;
  const scopes = found?.scopes ?? [];
  const isKnown = Array.isArray(server.scopes_supported) && server.scopes_supported.includes(offlineAccess);
  return connection.account === "user" && isKnown && !scopes.includes(offlineAccess)
    ? [...scopes, offlineAccess]
    : scopes;
}

export function createDiscoverConfiguration(deps: DiscoverConfigurationDeps): OAuthClient["discoverConfiguration"] {
  const { servers, findProtectedResource, publicUrl } = deps;
  const findClient = createFindClient(deps);

  const findServer = async (tool: OAuthTool, signal: AbortSignal) => {
    const named = tool.connection.issuer;
    const found = named === undefined ? await waitForServer(findProtectedResource(tool), signal) : undefined;
    const address = named ?? found?.issuer ?? "";
    const server = servers.findKnown(address) ?? (await waitForServer(servers.discover(address), signal));
    if (!isPlainIssuer(server.issuer))
      throw misconfigured(`${subjectOf(address)} has an issuer that cannot be part of a redirect address.`);
    // All else about it was compared when its metadata was read.
    const slash = server.issuer.endsWith("/") ? "with a slash at the end" : "without the last slash";
    if (named !== undefined && server.issuer !== named)
      throw misconfigured(`\`issuer\` must be written exactly as the server does: ${server.issuer} (${slash}).`);
    return { server, found };
  };

  return async (owner, tool, options) => {
    const isOfUser = tool.connection.account === "user";
    if (isOfUser && publicUrl === undefined) throw misconfigured(noPublicUrl);
    if (!parseSecureAddress(staticAddress(tool.url)))
      throw misconfigured(
        `The tool ${tool.name} has a \`connection\`, so its \`url\` must be an https address: tokens are sent to it.`,
      );
    const { server, found } = await findServer(tool, options.signal);
    const { issuer } = server;
    const tokenEndpoint = readEndpoint(server, "token_endpoint");
    const authorizationEndpoint = isOfUser ? readEndpoint(server, "authorization_endpoint") : null;
    if (isOfUser) requirePkce(server, tool.connection.issuer !== undefined);
    const redirectUri =
      publicUrl === undefined ? "" : redirectAddress(publicUrl, { organisationId: owner.organisationId, issuer });
    return {
      issuer,
      authorizationEndpoint,
      tokenEndpoint,
      revocationEndpoint: parseLinkedAddress(server.revocation_endpoint, issuer)?.href ?? null,
      namesItself: server.authorization_response_iss_parameter_supported === true,
      ...(await findClient(owner, tool, server, { redirectUri, ...options })),
      redirectUri,
      resourceIndicator: toResourceIndicator(tool, found),
      scopes: toScopes(tool, found, server),
    } satisfies OAuthConfiguration;
  };
}
