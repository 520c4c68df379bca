import type { AgentDefinitionPatch } from "@perch/contract";
import { createBrowserJar } from "@perch/testkit/browsers/browser-jar.ts";
import { type AccountProvider, accountClients } from "@perch/testkit/identity/account-provider.ts";
import { consentAtProvider } from "@perch/testkit/identity/account-provider-pages.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "./contract-client.ts";
import type { ApiNode, Organisation } from "./harness.ts";
import { httpTool } from "./secret-runs.ts";
import { insertConnection } from "./stored-connections.ts";

export type Tool = NonNullable<AgentDefinitionPatch["tools"]>[number];
export type ConnectedTool = Extract<Tool, { type: "http" | "mcp" }> & { connection: object };

/** The address at which browsers of these tests would reach Perch. */
export const perchUrl = "https://perch.example";
export const accountConfig = { publicUrl: perchUrl, outboundAllowedPrivateRanges: ["127.0.0.0/8"] };

const ofUsers = (provider: Pick<AccountProvider, "issuer">) => ({
  account: "user" as const,
  issuer: provider.issuer,
  client_id: accountClients.public.clientId,
  scopes: ["mail.read", "offline_access"],
  return_urls: ["https://app.example/connected"],
});

/** A tool at this address that is called with the account of the run's user. */
export const accountTool = (url: string, provider: Pick<AccountProvider, "issuer">, name = "book") =>
  httpTool(url, { name, connection: { ...ofUsers(provider), resource: url } }) as ConnectedTool;

export const accountServer = (
  url: string,
  provider: Pick<AccountProvider, "issuer">,
  name = "mail",
): ConnectedTool => ({
  type: "mcp",
  name,
  url,
  connection: ofUsers(provider),
});

export interface ConnectAccount {
  readonly agent?: string;
  readonly userId: string;
  /** The user's login at the provider. */
  readonly login?: string;
  readonly tool: ConnectedTool;
  /** The lifetime of the access token, by the database. The default is the provider's value. */
  readonly expiresInSeconds?: number;
}

/**
 * Consents at the provider with a browser of its own, and stores the tokens as a confirmed connection. Returns its
 * public id.
 */
export async function connectAccount(
  node: ApiNode,
  organisation: Pick<Organisation, "id" | "call">,
  { agent = "bot", userId, login = userId, tool, expiresInSeconds }: ConnectAccount,
): Promise<string> {
  const { oauth } = node.server.core.outbound;
  const found = ok(await organisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: agent } })).data;
  const owner = {
    organisationId: parsePublicId("organisation", organisation.id) ?? "",
    agentId: parsePublicId("agent", found.id) ?? "",
  };
  const signal = AbortSignal.timeout(10_000);
  const registrations = { find: async () => undefined, save: async () => undefined };
  const configuration = await oauth.discoverConfiguration(owner, tool as never, { registrations, signal });
  const secrets = oauth.newConsentSecrets("a-state-of-the-tests");
  const start = await oauth.authorizationUrl(configuration, secrets);
  const callback = await consentAtProvider(createBrowserJar(), start.href, { login });
  const parameters = new URL(callback).searchParams;
  const tokens = await oauth.exchangeCode(owner, configuration, { parameters, secrets }, signal);
  const said = tokens.expiresAtMs === null ? null : (tokens.expiresAtMs - Date.now()) / 1000;
  const given = { agent, userId, tool, configuration, tokens, expiresInSeconds: expiresInSeconds ?? said };
  return insertConnection(node, organisation, given);
}
