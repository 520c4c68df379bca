import type { AuthorizationServer } from "oauth4webapi";
import type { SecretOwner } from "../secrets/find-secrets.ts";
import type { LimitedFetch } from "./limited-fetch.ts";
import type { OAuthRegistration, OAuthTool, Registrations, TokenEndpointAuth } from "./oauth-client.ts";
import { OAuthFailure, subjectOf, waitForServer } from "./oauth-failure.ts";
import { clientDocumentAddress } from "./redirect-address.ts";
import { chooseAuthMethod, registerByHand, registerClient } from "./register-client.ts";

/** The client that Perch presents to a server, and how it authenticates there. */
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

/** For callers that must not register: as if Perch were registered at every server. */
export const noRegistrations: Registrations = {
  find: async () => ({ kind: "registered", clientId: "none", authMethod: "none", expiresAtMs: null }),
  save: async () => undefined,
};

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

export type FindClient = (
  owner: SecretOwner,
  tool: OAuthTool,
  server: AuthorizationServer,
  options: FindClientOptions,
) => Promise<PresentedClient>;

type Registered = Extract<OAuthRegistration, { readonly kind: "registered" }>;

/** The client that the definition names, else a document that Perch serves, else a registration of its own. */
export function createFindClient({ limitedFetch, publicUrl, now }: FindClientDeps): FindClient {
  /** By agent and redirect address: the first links of an agent, asked for at once, register it once. */
  const underWay = new Map<string, Promise<Registered>>();

  const findKnown = async (issuer: string, { redirectUri, registrations }: FindClientOptions) => {
    const known = await registrations.find(issuer, redirectUri);
    const isCurrent = known?.kind === "registered" && (known.expiresAtMs === null || known.expiresAtMs > now());
    return isCurrent ? known : undefined;
  };

  /** Ignores the first caller's signal, because other callers wait for it too. Each request has its own time limit. */
  const register = async (server: AuthorizationServer, knownUrl: string, options: FindClientOptions) => {
    const { redirectUri, registrations } = options;
    const registered = await registerClient({ limitedFetch, publicUrl: knownUrl, now }, server, { redirectUri });
    // Another process may have been faster: consents that are under way have its client.
    const faster = await findKnown(server.issuer, options);
    if (faster) return faster;
    await registrations.save(server.issuer, redirectUri, registered);
    return registered;
  };

  const findRegistered = async (
    { organisationId, agentId }: SecretOwner,
    server: AuthorizationServer,
    knownUrl: string,
    options: FindClientOptions,
  ): Promise<Registered> => {
    const known = await findKnown(server.issuer, options);
    if (known) return known;
    const key = JSON.stringify([organisationId, agentId, options.redirectUri]);
    const started = underWay.get(key) ?? register(server, knownUrl, options).finally(() => void underWay.delete(key));
    underWay.set(key, started);
    return waitForServer(started, options.signal);
  };

  return async (owner, tool, server, options) => {
    const configured = configuredClient(tool, server);
    if (configured) return configured;
    const { issuer, registration_endpoint, client_id_metadata_document_supported } = server;
    if (client_id_metadata_document_supported === true && publicUrl?.startsWith("https:")) {
      const clientId = clientDocumentAddress(publicUrl, { organisationId: owner.organisationId, issuer });
      return { client: { kind: "document", clientId }, authMethod: "none" };
    }
    if (registration_endpoint === undefined || publicUrl === undefined)
      throw new OAuthFailure(
        "misconfigured",
        `${subjectOf(issuer)} does not know Perch. ${registerByHand(options.redirectUri)}`,
      );
    const client = await findRegistered(owner, server, publicUrl, options);
    return { client, authMethod: client.authMethod };
  };
}
