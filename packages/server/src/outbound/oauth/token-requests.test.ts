import {
  type AccountProvider,
  type AccountProviderOptions,
  accountClients,
  startAccountProvider,
  type TokenEndpointMode,
} from "@perch/testkit/identity/account-provider.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  connectAccount,
  consentTo,
  createTestOAuthClient,
  discoverConfigurationOf,
  owner,
  perchUrl,
  soon,
  userTool,
} from "../../../test/support/oauth-testbed.ts";
import { RefusedAddressError } from "../address-guard.ts";
import { MissingSecretError, SecretHostError } from "../secrets/resolve-call.ts";
import type { OAuthConfiguration, OAuthTokens } from "./oauth-client.ts";
import type { OAuthFailureKind } from "./oauth-failure.ts";

const tool = "http://127.0.0.1:8080/mcp";
const client = createTestOAuthClient();
const opened: AccountProvider[] = [];
let provider: AccountProvider;
let configuration: OAuthConfiguration;

const startProvider = async (options: Partial<AccountProviderOptions> = {}): Promise<AccountProvider> => {
  const started = await startAccountProvider({ perch: [perchUrl], ...options });
  opened.push(started);
  return started;
};
const partyAt = ({ issuer }: AccountProvider) =>
  discoverConfigurationOf(client, userTool(tool, { issuer, client_id: accountClients.public.clientId }));

beforeAll(async () => {
  provider = await startProvider();
  configuration = await partyAt(provider);
});
afterAll(() => Promise.all(opened.map(({ stop }) => stop())));

const refreshTokenOf = ({ refreshToken }: OAuthTokens): string => {
  if (refreshToken === null) throw new Error("there is no refresh token");
  return refreshToken;
};
const granted = { refreshToken: "a-refresh-token", scopes: ["mail.read"] };
const refresh = (tokens: OAuthTokens, from: OAuthConfiguration = configuration) =>
  client.refresh(owner, from, { ...tokens, refreshToken: refreshTokenOf(tokens) }, soon());

/** The token endpoint answers this once. */
async function whileTokenEndpoint<T>(mode: TokenEndpointMode, work: () => Promise<T>): Promise<T> {
  provider.setTokenEndpoint(mode);
  try {
    return await work();
  } finally {
    provider.setTokenEndpoint("up");
  }
}
const bearer = { access_token: "access-token", token_type: "Bearer" };
const answered = (body: object | string, status = 200): TokenEndpointMode => ({ status, body });

describe("a refresh", () => {
  test("gives a new access token and the next refresh token, for the same user and tool", async () => {
    const first = await connectAccount(client, configuration, "ada");
    const second = await refresh(first);
    expect(second.refreshToken).not.toBe(first.refreshToken);
    expect(await provider.verifyToken(second.accessToken)).toMatchObject({ user: "ada", audience: tool });
    expect(provider.tokenRequests.at(-1)).toMatchObject({ grantType: "refresh_token", resource: tool });
  });

  test("keeps the refresh token if a server does not rotate it", async () => {
    const plain = await startProvider({ rotation: false });
    const at = await partyAt(plain);
    const first = await connectAccount(client, at, "ada");
    const second = await refresh(first, at);
    expect(second.accessToken).not.toBe(first.accessToken);
    expect(second.refreshToken).toBe(first.refreshToken);
  });

  test("with a refresh token that was used before is refused, and so is its successor: the server sees a theft", async () => {
    const first = await connectAccount(client, configuration, "ada");
    const second = await refresh(first);
    for (const tokens of [first, second]) await expect(refresh(tokens)).rejects.toMatchObject({ kind: "refused" });
  });

  test("is refused once the user has withdrawn the consent, in words without a token", async () => {
    const tokens = await connectAccount(client, configuration, "eve");
    provider.revokeGrants("eve");
    const failure = await refresh(tokens).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      kind: "refused",
      message: expect.stringMatching(/no longer accepts the user's consent \(400 invalid_grant\)\.$/),
    });
    expect(JSON.stringify(failure) + String(failure)).not.toContain(tokens.refreshToken);
  });

  test.each<[string, OAuthFailureKind, TokenEndpointMode]>([
    ["503", "unavailable", { status: 503 }],
    ["429", "unavailable", { status: 429 }],
    ["500 with a word of the protocol", "unavailable", answered({ error: "invalid_grant" }, 500)],
    ["a cut connection", "unavailable", "reset"],
    ["a page", "unavailable", { status: 200, body: "<html>", headers: { "content-type": "text/html" } }],
    ["a page of a firewall", "unavailable", { status: 403, body: "<html>", headers: { "content-type": "text/html" } }],
    ["nothing", "unavailable", { status: 200 }],
    ["a redirect, which is not followed", "unavailable", { status: 307, headers: { location: "/elsewhere" } }],
    ["temporarily_unavailable", "unavailable", answered({ error: "temporarily_unavailable" }, 400)],
    ["404, as a proxy does while its server is replaced", "unavailable", { status: 404 }],
    ["410", "unavailable", { status: 410 }],
    ["404 and a word", "unavailable", answered({ error: "not_found" }, 404)],
    ["an unknown error", "unavailable", answered({ error: "quota_exceeded" }, 400)],
    ["invalid_grant", "refused", answered({ error: "invalid_grant" }, 400)],
    ["an error and status 200, as GitHub does", "refused", answered({ error: "bad_refresh_token" })],
    ["invalid_client", "misconfigured", answered({ error: "invalid_client" }, 400)],
    ["unauthorized_client", "misconfigured", answered({ error: "unauthorized_client" }, 400)],
    ["invalid_scope", "misconfigured", answered({ error: "invalid_scope" }, 400)],
    ["a challenge", "misconfigured", { status: 401, headers: { "www-authenticate": "Basic" } }],
    ["too much", "invalid", answered({ access_token: "x".repeat(70_000), token_type: "bearer" })],
    ["another kind of token", "invalid", answered({ access_token: "a-token-of-dpop", token_type: "DPoP" })],
    ["a token that no header carries", "invalid", answered({ access_token: "a token\nx: y", token_type: "bearer" })],
    ["a token too short to be found again", "invalid", answered({ access_token: "x", token_type: "bearer" })],
    ["a token too long", "invalid", answered({ access_token: "x".repeat(9000), token_type: "bearer" })],
    ["a refresh token that is none", "invalid", answered({ ...bearer, refresh_token: "é é é é é" })],
    ["no token", "invalid", answered({ token_type: "bearer" })],
  ])("answered with %s is %s", async (_, kind, mode) => {
    const refused = whileTokenEndpoint(mode, () => client.refresh(owner, configuration, granted, soon()));
    await expect(refused).rejects.toMatchObject({ kind });
    expect(provider.requests).not.toContain("POST /elsewhere");
  });

  test("goes to no address inside, whatever a server named as its token endpoint", async () => {
    const inside = { ...configuration, tokenEndpoint: "https://10.1.2.3/token" };
    await expect(client.refresh(owner, inside, granted, soon())).rejects.toBeInstanceOf(RefusedAddressError);
  });

  test("of a client that Perch registered itself and the server forgot needs a new consent", async () => {
    const registered = { kind: "registered", clientId: "gone", authMethod: "none", expiresAtMs: null } as const;
    await expect(
      client.refresh(owner, { ...configuration, client: registered }, granted, soon()),
    ).rejects.toMatchObject({
      kind: "refused",
    });
  });

  test("waits longer for an answer than metadata is waited for, and no longer than the caller does", async () => {
    const started = Date.now();
    const waited = (mode: TokenEndpointMode, signal: AbortSignal) =>
      whileTokenEndpoint(mode, () => client.refresh(owner, configuration, granted, signal));
    await expect(waited("hang", AbortSignal.timeout(100))).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("took too long"),
    });
    expect(Date.now() - started).toBeLessThan(3000);
    const slow = { status: 200, body: bearer, delayMs: 5500 };
    await expect(waited(slow, soon())).resolves.toMatchObject({ accessToken: bearer.access_token });
  });

  test("of a server that is away is unavailable, and works again once it is back", async () => {
    const away = await startProvider();
    const at = await partyAt(away);
    const tokens = await connectAccount(client, at, "ada");
    await away.stop();
    await expect(refresh(tokens, at)).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("refuses connections"),
    });
    await away.start();
    expect(await refresh(tokens, at)).toMatchObject({ accessToken: expect.any(String) });
  });
});

describe("an answer with tokens", () => {
  const answer = (more: object) =>
    whileTokenEndpoint(answered({ ...bearer, ...more }), () => client.refresh(owner, configuration, granted, soon()));

  test("has a life that is believed within reason", async () => {
    const year = 365 * 24 * 60 * 60_000;
    const near = (ms: number) => expect.closeTo(Date.now() + ms, -5);
    expect((await answer({ expires_in: "3600" })).expiresAtMs).toEqual(near(3_600_000));
    expect((await answer({ expires_in: 1e15 })).expiresAtMs).toEqual(near(year));
    for (const expires_in of [undefined, 0, -5, null, "soon"])
      expect((await answer({ expires_in })).expiresAtMs).toBeNull();
  });

  test("has the scopes that it names, else those that were granted before, else those that were asked for", async () => {
    expect((await answer({ scope: "mail.read  mail.send" })).scopes).toEqual(["mail.read", "mail.send"]);
    // The user has allowed less than was asked for: a refresh does not give more.
    expect((await answer({})).scopes).toEqual(["mail.read"]);
    const at = { ...configuration, scopes: ["mail.read", "mail.send"] };
    const { secrets, parameters } = await consentTo(client, at, "ada");
    const first = await whileTokenEndpoint(answered(bearer), () =>
      client.exchangeCode(owner, at, { parameters, secrets }, soon()),
    );
    expect(first.scopes).toEqual(at.scopes);
  });

  test("keeps the refresh token if it brings an empty one, and ignores an ID token beside it", async () => {
    expect((await answer({ refresh_token: "", id_token: "not.a.token" })).refreshToken).toBe("a-refresh-token");
  });
});

describe("a secret of a client", () => {
  const settings = { client_id: accountClients.confidential.clientId, client_secret: "{{secret.mail}}" };
  const value = accountClients.confidential.clientSecret;
  const configurationWith = (of: typeof client) =>
    discoverConfigurationOf(of, userTool(tool, { issuer: provider.issuer, ...settings }));

  test("is sent to the origins that its hosts name, and to no other", async () => {
    const allowed = createTestOAuthClient({ secrets: { mail: { value, origins: [provider.issuer] } } });
    const tokens = await connectAccount(allowed, await configurationWith(allowed), "ada");
    expect(tokens.refreshToken).not.toBeNull();
    const elsewhere = createTestOAuthClient({ secrets: { mail: { value, origins: ["https://api.example"] } } });
    const before = provider.requests.length;
    const at = await configurationWith(elsewhere);
    await expect(elsewhere.refresh(owner, at, granted, soon())).rejects.toBeInstanceOf(SecretHostError);
    await expect(elsewhere.revoke(owner, at, tokens, soon())).rejects.toBeInstanceOf(SecretHostError);
    expect(provider.requests.slice(before).filter((request) => request.startsWith("POST"))).toEqual([]);
  });

  test("that does not exist, or is wrong, is reported", async () => {
    await expect(client.refresh(owner, await configurationWith(client), granted, soon())).rejects.toBeInstanceOf(
      MissingSecretError,
    );
    const wrong = createTestOAuthClient({ secrets: { mail: { value: "wrong-secret", origins: [provider.issuer] } } });
    await expect(wrong.refresh(owner, await configurationWith(wrong), granted, soon())).rejects.toMatchObject({
      kind: "misconfigured",
      message: expect.stringContaining("Compare `client_id` and `client_secret`"),
    });
  });
});

describe("client credentials", () => {
  const { clientId, clientSecret } = accountClients.machine;
  const machine = (secret: string = clientSecret) =>
    createTestOAuthClient({
      publicUrl: undefined,
      secrets: { machine: { value: secret, origins: [provider.issuer] } },
    });
  const agentTool = () => ({
    type: "mcp" as const,
    name: "mail",
    url: tool,
    connection: {
      account: "agent" as const,
      issuer: provider.issuer,
      client_id: clientId,
      client_secret: "{{secret.machine}}",
      scopes: ["mail.read"],
    },
  });

  test("give a token of the agent's own account, only for this tool, without a public address", async () => {
    verifies("connections.agent-account");
    const of = machine();
    const at = await discoverConfigurationOf(of, agentTool());
    expect(at).toMatchObject({ authorizationEndpoint: null, client: { kind: "configured", clientId } });
    const tokens = await of.clientCredentials(owner, at, soon());
    expect(tokens).toMatchObject({ refreshToken: null, scopes: ["mail.read"] });
    expect(await provider.verifyToken(tokens.accessToken)).toMatchObject({ user: undefined, clientId, audience: tool });
  });

  test("that are wrong are misconfigured", async () => {
    const of = machine("another-secret");
    await expect(
      of.clientCredentials(owner, await discoverConfigurationOf(of, agentTool()), soon()),
    ).rejects.toMatchObject({
      kind: "misconfigured",
    });
  });
});

describe("a revocation", () => {
  test("ends the whole consent at the server, and is done again without harm", async () => {
    const first = await connectAccount(client, configuration, "dan");
    const tokens = await refresh(first);
    expect(await client.revoke(owner, configuration, tokens, soon())).toBe("done");
    expect(provider.hasGrant("dan")).toBe(false);
    expect(await provider.verifyToken(tokens.accessToken)).toBeUndefined();
    expect(await client.revoke(owner, configuration, tokens, soon())).toBe("done");
  });

  test("is not offered by some servers", async () => {
    const without = await startProvider({ revocation: false });
    const at = await partyAt(without);
    expect(await client.revoke(owner, at, await connectAccount(client, at, "ada"), soon())).toBe("not_offered");
    expect(without.hasGrant("ada")).toBe(true);
  });

  test("of a server that is away is unavailable", async () => {
    const away = await startProvider();
    const at = await partyAt(away);
    const tokens = await connectAccount(client, at, "ada");
    await away.stop();
    await expect(client.revoke(owner, at, tokens, soon())).rejects.toMatchObject({ kind: "unavailable" });
    await away.start();
  });
});
