import type { ToolConnection } from "@perch/contract";
import { createBrowserJar } from "@perch/testkit/browsers/browser-jar.ts";
import { consentAtProvider } from "@perch/testkit/identity/account-provider-pages.ts";
import { type HttpToolAnswer, startToolServer, type ToolServer } from "@perch/testkit/servers/tool-server.ts";
import { createGuardedClient } from "../../src/outbound/guarded-client.ts";
import { createOAuthClient } from "../../src/outbound/oauth/create-oauth-client.ts";
import type {
  OAuthClient,
  OAuthConfiguration,
  OAuthRegistration,
  OAuthTool,
  Registrations,
} from "../../src/outbound/oauth/oauth-client.ts";
import { redirectAddress } from "../../src/outbound/oauth/redirect-address.ts";
import type { FoundSecret } from "../../src/outbound/secrets/find-secrets.ts";
import { createResolveCall } from "../../src/outbound/secrets/resolve-call.ts";
import { createRedactor } from "./create-redactor.ts";
import { noSecrets } from "./no-secrets.ts";

export const perchUrl = "http://127.0.0.1:7499";
export const { owner } = noSecrets;
/** The owner's own. */
export const redirectUriAt = (issuer: string): string =>
  redirectAddress(perchUrl, { organisationId: owner.organisationId, issuer });
export const soon = (): AbortSignal => AbortSignal.timeout(15_000);

export interface OAuthTestbedOptions {
  readonly publicUrl?: string | undefined;
  readonly allowedRanges?: readonly string[];
  readonly secrets?: Readonly<Record<string, FoundSecret>>;
  readonly now?: () => number;
}

/** The client for tools, through a real guarded client that reaches loopback. */
export function createTestOAuthClient(options: OAuthTestbedOptions = {}): OAuthClient {
  const { publicUrl = perchUrl, allowedRanges = ["127.0.0.0/8"], secrets = {}, now = Date.now } = options;
  return createOAuthClient({
    fetch: createGuardedClient({ allowedRanges }).fetch,
    resolveCall: createResolveCall({
      createRedactor,
      findSecrets: async () => new Map(Object.entries(secrets)),
      onRefused: () => undefined,
    }),
    publicUrl: "publicUrl" in options ? options.publicUrl : publicUrl,
    now,
    version: "1.2.3",
  });
}

export interface StoredRegistrations extends Registrations {
  readonly stored: Map<string, OAuthRegistration>;
}

export function storeRegistrations(): StoredRegistrations {
  const stored = new Map<string, OAuthRegistration>();
  return {
    stored,
    find: async (issuer, redirectUri) => stored.get(`${issuer} ${redirectUri}`),
    save: async (issuer, redirectUri, registration) => void stored.set(`${issuer} ${redirectUri}`, registration),
  };
}

type UserSettings = Partial<Omit<Extract<ToolConnection, { account: "user" }>, "account">>;

/** A tool that is called with each user's own account. */
export const userTool = (url: string, settings: UserSettings = {}, type: OAuthTool["type"] = "mcp"): OAuthTool => ({
  type,
  name: "mail",
  url,
  connection: { account: "user", return_urls: ["https://app.example/connected"], ...settings },
});

export const discoverConfigurationOf = (
  client: OAuthClient,
  tool: OAuthTool,
  registrations: Registrations = storeRegistrations(),
) => client.discoverConfiguration(owner, tool, { registrations, signal: soon() });

/** Consents, and returns once the provider has sent the browser back. */
export async function consentTo(
  client: OAuthClient,
  configuration: OAuthConfiguration,
  login: string,
  state = "a-state",
) {
  const secrets = client.newConsentSecrets(state);
  const url = await client.authorizationUrl(configuration, secrets);
  const back = new URL(await consentAtProvider(createBrowserJar(), url.href, { login }));
  return { secrets, back, parameters: back.searchParams };
}

/** A consent with its tokens. */
export async function connectAccount(client: OAuthClient, configuration: OAuthConfiguration, login: string) {
  const { secrets, parameters } = await consentTo(client, configuration, login);
  return client.exchangeCode(owner, configuration, { parameters, secrets }, soon());
}

type Routes = Readonly<Record<string, HttpToolAnswer | (() => Promise<HttpToolAnswer>)>>;

/** A server with the metadata that a test chooses, by path. Other paths are 404. */
export async function startMetadataServer(routesOf: (url: string) => Routes): Promise<ToolServer> {
  const server: ToolServer = await startToolServer(async ({ path }) => {
    const answer = routesOf(server.url)[path] ?? { status: 404, body: "" };
    return typeof answer === "function" ? answer() : answer;
  });
  return server;
}

/** Metadata of an authorization server with all that is needed. */
export const serverMetadata = (issuer: string, changes: Readonly<Record<string, unknown>> = {}): HttpToolAnswer => ({
  body: {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    code_challenge_methods_supported: ["S256"],
    ...changes,
  },
});
