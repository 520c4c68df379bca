import {
  type AccountProvider,
  type AccountProviderOptions,
  accountClients,
  startAccountProvider,
} from "@perch/testkit/identity/account-provider.ts";
import type { HttpToolAnswer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test, vi } from "vitest";
import {
  connectAccount,
  createTestOAuthClient,
  discoverConfigurationOf,
  owner,
  perchUrl,
  redirectUriAt,
  serverMetadata,
  startMetadataServer,
  storeRegistrations,
  userTool,
} from "../../../test/support/oauth-testbed.ts";
import { clientDocument, clientDocumentAddress } from "./redirect-address.ts";

const tool = "http://127.0.0.1:8080/mcp";
const securePerch = "https://perch.example";
const opened: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(opened.map((close) => close())));

const at = ({ issuer }: AccountProvider) => ({ organisationId: owner.organisationId, issuer });

const startProvider = async (options: Partial<AccountProviderOptions> = {}): Promise<AccountProvider> => {
  const provider = await startAccountProvider({ perch: [perchUrl, securePerch], ...options });
  opened.push(provider.stop);
  return provider;
};

describe("a configured client", () => {
  test("takes precedence, and its secret comes from the agent's secrets", async () => {
    verifies("connections.discovery");
    const provider = await startProvider({ fetchDocument: async () => Response.json({}) });
    const { clientId, clientSecret } = accountClients.confidential;
    const secrets = { mail: { value: clientSecret, origins: [provider.issuer] } };
    const client = createTestOAuthClient({ secrets, publicUrl: securePerch });
    const registrations = storeRegistrations();
    const settings = { issuer: provider.issuer, client_id: clientId, client_secret: "{{secret.mail}}" };
    const configuration = await discoverConfigurationOf(client, userTool(tool, settings), registrations);
    expect(configuration.client).toEqual({ kind: "configured", clientId, clientSecret: "{{secret.mail}}" });
    expect(configuration.authMethod).toBe("client_secret_basic");
    expect(JSON.stringify(configuration)).not.toContain(clientSecret);
    expect(await provider.verifyToken((await connectAccount(client, configuration, "ada")).accessToken)).toMatchObject({
      user: "ada",
      clientId,
      audience: tool,
    });
    expect(registrations.stored.size).toBe(0);
    expect(provider.requests).not.toContain("POST /reg");
  });

  test("without a secret is public", async () => {
    const provider = await startProvider();
    const client = createTestOAuthClient();
    const settings = { issuer: provider.issuer, client_id: accountClients.public.clientId };
    const configuration = await discoverConfigurationOf(client, userTool(tool, settings));
    expect(configuration).toMatchObject({ authMethod: "none" });
    expect(await connectAccount(client, configuration, "ada")).toMatchObject({ refreshToken: expect.any(String) });
  });

  test("presents its secret in the body if a server accepts it only there", async () => {
    const provider = await startProvider({
      metadata: { token_endpoint_auth_methods_supported: ["client_secret_post"] },
    });
    const { clientId, clientSecret } = accountClients.confidential;
    const client = createTestOAuthClient({ secrets: { mail: { value: clientSecret, origins: [provider.issuer] } } });
    const settings = { issuer: provider.issuer, client_id: clientId, client_secret: "{{secret.mail}}" };
    expect((await discoverConfigurationOf(client, userTool(tool, settings))).authMethod).toBe("client_secret_post");
  });
});

describe("a client id metadata document", () => {
  test("is used if a server accepts one: the server fetches it, and no registration is stored", async () => {
    verifies("connections.discovery");
    const fetched: string[] = [];
    const provider: AccountProvider = await startProvider({
      fetchDocument: async (url) => {
        fetched.push(url);
        return Response.json(clientDocument(securePerch, at(provider)));
      },
    });
    const client = createTestOAuthClient({ publicUrl: securePerch });
    const registrations = storeRegistrations();
    const configuration = await discoverConfigurationOf(
      client,
      userTool(tool, { issuer: provider.issuer }),
      registrations,
    );
    const clientId = clientDocumentAddress(securePerch, at(provider));
    expect(configuration).toMatchObject({ client: { kind: "document", clientId }, authMethod: "none" });
    expect(await provider.verifyToken((await connectAccount(client, configuration, "ada")).accessToken)).toMatchObject({
      user: "ada",
      clientId,
    });
    expect(fetched).toEqual([clientId]);
    expect(registrations.stored.size).toBe(0);
  });

  test("is not presented by an installation that servers cannot reach over https: it registers itself", async () => {
    const provider = await startProvider({ fetchDocument: async () => Response.error() });
    const configuration = await discoverConfigurationOf(
      createTestOAuthClient(),
      userTool(tool, { issuer: provider.issuer }),
    );
    expect(configuration.client.kind).toBe("registered");
  });
});

describe("dynamic registration", () => {
  test("is made once for an agent and an issuer, and its client gets tokens", async () => {
    verifies("connections.discovery");
    const provider = await startProvider();
    const client = createTestOAuthClient();
    const registrations = storeRegistrations();
    const mail = userTool(tool, { issuer: provider.issuer });
    const configuration = await discoverConfigurationOf(client, mail, registrations);
    expect(configuration.client).toMatchObject({ kind: "registered", authMethod: "none" });
    expect(await connectAccount(client, configuration, "ada")).toMatchObject({ accessToken: expect.any(String) });
    expect((await discoverConfigurationOf(client, mail, registrations)).client).toEqual(configuration.client);
    expect(provider.requests.filter((request) => request === "POST /reg")).toHaveLength(1);
  });

  test("is made once for links that are asked for at once, and each of them gets that client", async () => {
    const provider = await startProvider();
    const client = createTestOAuthClient();
    const registrations = storeRegistrations();
    const mail = userTool(tool, { issuer: provider.issuer });
    const configurations = await Promise.all([1, 2, 3].map(() => discoverConfigurationOf(client, mail, registrations)));
    expect(new Set(configurations.map((configuration) => configuration.client.clientId)).size).toBe(1);
    expect(provider.requests.filter((request) => request === "POST /reg")).toHaveLength(1);
  });

  test("gives way to one that another process has saved in the meantime: consents are under way with it", async () => {
    const provider = await startProvider();
    const other = { kind: "registered", clientId: "of-another", authMethod: "none", expiresAtMs: null } as const;
    const { save, ...stored } = storeRegistrations();
    const found = [undefined, other];
    const registrations = { ...stored, find: async () => found.shift(), save: vi.fn(save) };
    const configuration = await discoverConfigurationOf(
      createTestOAuthClient(),
      userTool(tool, { issuer: provider.issuer }),
      registrations,
    );
    expect(configuration.client).toEqual(other);
    expect(registrations.save).not.toHaveBeenCalled();
  });

  test("is made again for consents a day later: many servers forget, and tell only the browser", async () => {
    let nowMs = Date.now();
    const provider = await startProvider();
    const client = createTestOAuthClient({ now: () => nowMs });
    const registrations = storeRegistrations();
    const mail = userTool(tool, { issuer: provider.issuer });
    const first = await discoverConfigurationOf(client, mail, registrations);
    nowMs += 24 * 60 * 60_000;
    expect((await discoverConfigurationOf(client, mail, registrations)).client).not.toEqual(first.client);
  });

  test("with a secret, if a server has no public clients", async () => {
    const methods = ["client_secret_post", "client_secret_basic"];
    const provider = await startProvider({ metadata: { token_endpoint_auth_methods_supported: methods } });
    const client = createTestOAuthClient();
    const configuration = await discoverConfigurationOf(client, userTool(tool, { issuer: provider.issuer }));
    expect(configuration).toMatchObject({
      authMethod: "client_secret_basic",
      client: { kind: "registered", clientSecret: expect.any(String) },
    });
    const { refreshToken } = await connectAccount(client, configuration, "ada");
    expect(refreshToken).toEqual(expect.any(String));
  });

  const registerAt = async (answer: HttpToolAnswer) => {
    const server = await startMetadataServer((url) => ({
      "/.well-known/oauth-authorization-server": serverMetadata(url),
      "/register": answer,
    }));
    opened.push(server.close);
    const configuration = discoverConfigurationOf(createTestOAuthClient(), userTool(tool, { issuer: server.url }));
    return { server, configuration };
  };

  test("takes what servers answer beside the standard: 200, and no word about when a secret ends", async () => {
    const { configuration } = await registerAt({ body: { client_id: "c-1", client_secret: "a-secret" } });
    expect((await configuration).client).toMatchObject({
      clientId: "c-1",
      clientSecret: "a-secret",
      authMethod: "client_secret_basic",
    });
  });

  test.each<[string, HttpToolAnswer]>([
    [
      "its way to present a secret is unknown",
      { status: 201, body: { client_id: "c", token_endpoint_auth_method: "private_key_jwt" } },
    ],
    [
      "it gives no secret for one",
      { status: 201, body: { client_id: "c", token_endpoint_auth_method: "client_secret_post" } },
    ],
    ["its id cannot be sent", { status: 201, body: { client_id: "c\n" } }],
    [
      "it refuses the redirect address",
      { status: 400, body: { error: "invalid_redirect_uri", error_description: "<b>no</b>" } },
    ],
    ["it has nothing there", { status: 404 }],
    ["it leads elsewhere", { status: 307, headers: { location: "/elsewhere" } }],
    ["it wants a token for it", { status: 401, headers: { "www-authenticate": "Bearer" }, body: "" }],
  ])("fails with what to register by hand if %s", async (_, answer) => {
    const { server, configuration } = await registerAt(answer);
    await expect(configuration).rejects.toMatchObject({
      kind: "misconfigured",
      message: expect.stringContaining(redirectUriAt(server.url)),
    });
    await expect(configuration).rejects.not.toMatchObject({ message: expect.stringContaining("<b>") });
  });

  test("is retried later if the server does not answer as it should", async () => {
    for (const answer of [{ status: 503 }, { body: "<html>", headers: { "content-type": "text/html" } }]) {
      const { configuration } = await registerAt(answer);
      await expect(configuration).rejects.toMatchObject({ kind: "unavailable" });
    }
  });
});

test("a server that knows Perch in no way: the failure says which redirect address to register", async () => {
  const provider = await startProvider({ dynamicRegistration: false });
  await expect(
    discoverConfigurationOf(createTestOAuthClient(), userTool(tool, { issuer: provider.issuer })),
  ).rejects.toMatchObject({
    kind: "misconfigured",
    message: expect.stringContaining(redirectUriAt(provider.issuer)),
  });
});
