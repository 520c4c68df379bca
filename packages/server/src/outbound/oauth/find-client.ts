import type { AuthorizationServer } from "oauth4webapi";
import type { LimitedFetch } from "./limited-fetch.ts";
import type { OAuthRegistration, OAuthTool, Registrations, TokenEndpointAuth } from "./oauth-client.ts";
import { OAuthFailure, subjectOf } from "./oauth-failure.ts";
import { clientDocumentAddress } from "./redirect-address.ts";
import { chooseAuthMethod, registerByHand, registerClient } from "./register-client.ts";

/** Who Perch is at a server, and how it presents itself there. */
export interface PresentedClient {
  readonly client: OAuthRegistration;
  readonly authMethod: TokenEndpointAuth;
}

function configuredClient({ connection }: OAuthTool, server: AuthorizationServer): PresentedClient | undefined {
  const { client_id: clientId, client_secret: clientSecret } = connection;
  if (clientId === undefined) return undefined;
  return {
    client: { kind: "configured", clientId, ...(clientSecret !== undefined && { clientSecret }) },
    authMethod: clientSecret === undefined ? "none" : chooseAuthMethod(server, true),
  };
}

interface FindClientDeps {
  readonly limitedFetch: LimitedFetch;
  readonly publicUrl: string | undefined;
  readonly now: () => number;
}

interface FindClientOptions {
  readonly redirectUri: string;
  readonly registrations: Registrations;
  readonly signal: AbortSignal;
}

async function findRegistered(
  deps: FindClientDeps & { readonly publicUrl: string },
  server: AuthorizationServer,
  { redirectUri, registrations, signal }: FindClientOptions,
): Promise<PresentedClient> {
  const known = await registrations.find(server.issuer, redirectUri);
  if (known?.kind === "registered" && (known.expiresAtMs === null || known.expiresAtMs > deps.now()))
    return { client: known, authMethod: known.authMethod };
  const client = await registerClient(deps, server, { redirectUri, signal });
  await registrations.save(server.issuer, redirectUri, client);
  return { client, authMethod: client.authMethod };
}

/** What the definition names, else a document that Perch serves, else a registration of its own. */
export async function findClient(
  { publicUrl, ...deps }: FindClientDeps,
  tool: OAuthTool,
  server: AuthorizationServer,
  options: FindClientOptions,
): Promise<PresentedClient> {
  const configured = configuredClient(tool, server);
  if (configured) return configured;
  const { issuer, registration_endpoint, client_id_metadata_document_supported } = server;
  if (client_id_metadata_document_supported === true && publicUrl?.startsWith("https:"))
    return { client: { kind: "document", clientId: clientDocumentAddress(publicUrl, issuer) }, authMethod: "none" };
  if (registration_endpoint === undefined || publicUrl === undefined)
    throw new OAuthFailure(
      "misconfigured",
      `${subjectOf(issuer)} does not know Perch. ${registerByHand(options.redirectUri)}`,
    );
  return findRegistered({ ...deps, publicUrl }, server, options);
}
