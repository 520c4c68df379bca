import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { type OAuthMcpServer, startOAuthMcpServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAgent, outboundAllowedPrivateRanges } from "../../../test/support/consent-testbed.ts";
import { connect, publicUrl, returnUrl } from "../../../test/support/consents.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { readConnection } from "../../../test/support/stored-connections.ts";

const perch = usePerch({ publicUrl, outboundAllowedPrivateRanges });
let provider: AccountProvider;
let server: OAuthMcpServer;
const fetched: string[] = [];

beforeAll(async () => {
  const fetchDocument = (url: string) => {
    fetched.push(url);
    return fetch(url.replace(publicUrl, perch().url));
  };
  provider = await startAccountProvider({ perch: [publicUrl], dynamicRegistration: false, fetchDocument });
  server = await startOAuthMcpServer(provider);
});
afterAll(async () => {
  await server.close();
  await provider.stop();
});

test("an MCP server names its provider itself, and the provider reads Perch's client document: nothing is configured", async () => {
  const organisation = await perch().createOrganisation();
  const connection = { account: "user", return_urls: [returnUrl] };
  await createAgent(organisation, "bot", { type: "mcp", name: "mail", url: server.url, connection });
  const connected = await connect(perch(), organisation, { user_id: "ada" });
  expect(connected).toMatchObject({ status: "active", issuer: provider.issuer, sent_to: server.url });
  const { grant } = await readConnection(perch(), organisation, connected.id);
  const document = `${publicUrl}/oauth/clients/${organisation.id}/http:${new URL(provider.issuer).host}`;
  expect(grant?.configuration).toMatchObject({
    client: { kind: "document", clientId: document },
    resourceIndicator: server.url,
  });
  expect(fetched).toContain(document);
  const { accessToken = "" } = grant?.tokens ?? {};
  expect(await provider.verifyToken(accessToken)).toMatchObject({ user: "ada", audience: server.url });
});
