import { createBrowserJar } from "@perch/testkit/browsers/browser-jar.ts";
import {
  type AccountProvider,
  accountClients,
  startAccountProvider,
} from "@perch/testkit/identity/account-provider.ts";
import { consentAtProvider } from "@perch/testkit/identity/account-provider-pages.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  consentTo,
  createTestOAuthClient,
  discoverConfigurationOf,
  owner,
  perchUrl,
  redirectUriAt,
  soon,
  userTool,
} from "../../../test/support/oauth-testbed.ts";
import type { OAuthConfiguration } from "./oauth-client.ts";

const tool = "http://127.0.0.1:8080/mcp";
const client = createTestOAuthClient();
let provider: AccountProvider;
let other: AccountProvider;
let configuration: OAuthConfiguration;
let otherConfiguration: OAuthConfiguration;

const partyAt = ({ issuer }: AccountProvider) =>
  discoverConfigurationOf(client, userTool(tool, { issuer, client_id: accountClients.public.clientId }));

beforeAll(async () => {
  [provider, other] = await Promise.all([
    startAccountProvider({ perch: [perchUrl] }),
    startAccountProvider({ perch: [perchUrl] }),
  ]);
  [configuration, otherConfiguration] = await Promise.all([partyAt(provider), partyAt(other)]);
});
afterAll(() => Promise.all([provider.stop(), other.stop()]));

const changed = (parameters: URLSearchParams, changes: Record<string, string | undefined>): URLSearchParams => {
  const copy = new URLSearchParams(parameters);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) copy.delete(name);
    else copy.set(name, value);
  }
  return copy;
};

const failureOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
};

describe("the address of a consent", () => {
  test("has PKCE with S256, the state, the resource and the server's own redirect address, and no verifier", async () => {
    const secrets = client.newConsentSecrets("a-state");
    const url = await client.authorizationUrl({ ...configuration, scopes: ["mail.read"] }, secrets);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: "code",
      client_id: accountClients.public.clientId,
      redirect_uri: redirectUriAt(provider.issuer),
      state: "a-state",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      scope: "mail.read",
      resource: tool,
    });
    expect(url.href).not.toContain(secrets.codeVerifier);
    expect(client.newConsentSecrets("a-state").codeVerifier).not.toBe(secrets.codeVerifier);
  });

  test("keeps the endpoint's own query, which cannot replace a parameter", async () => {
    const authorizationEndpoint = "https://as.example/auth?tenant=7&state=evil&redirect_uri=https://evil.example";
    const url = await client.authorizationUrl(
      { ...configuration, authorizationEndpoint },
      client.newConsentSecrets("a-state"),
    );
    expect(url.searchParams.get("tenant")).toBe("7");
    expect(url.searchParams.getAll("state")).toEqual(["a-state"]);
    expect(url.searchParams.getAll("redirect_uri")).toEqual([configuration.redirectUri]);
  });

  test("asks for what refresh tokens need: consent with offline_access, and Google's own parameter", async () => {
    const parametersOf = async (changes: Partial<OAuthConfiguration>) =>
      (await client.authorizationUrl({ ...configuration, ...changes }, client.newConsentSecrets("s"))).searchParams;
    expect((await parametersOf({ scopes: ["offline_access"] })).get("prompt")).toBe("consent");
    expect((await parametersOf({ scopes: [] })).get("prompt")).toBeNull();
    expect((await parametersOf({ issuer: "https://accounts.google.com" })).get("access_type")).toBe("offline");
  });
});

describe("what a browser brings back", () => {
  test("is exchanged for tokens of the person who consented, only for this tool", async () => {
    const { parameters, secrets } = await consentTo(client, configuration, "ada");
    client.checkCallback(configuration, parameters, secrets.state);
    const tokens = await client.exchangeCode(owner, configuration, { parameters, secrets }, soon());
    expect(await provider.verifyToken(tokens.accessToken)).toMatchObject({ user: "ada", audience: tool });
    expect(tokens.expiresAtMs).toBeGreaterThan(Date.now() + 3_500_000);
  });

  test("is refused with another state, or none", async () => {
    const { parameters } = await consentTo(client, configuration, "ada");
    for (const given of [changed(parameters, { state: "another" }), changed(parameters, { state: undefined })])
      expect(failureOf(() => client.checkCallback(configuration, given, "a-state"))).toMatchObject({ kind: "invalid" });
  });

  test("is refused if it names another server, or none although this one always does", async () => {
    const { parameters } = await consentTo(client, configuration, "ada");
    for (const iss of [other.issuer, `${provider.issuer}/`, "", undefined])
      expect(
        failureOf(() => client.checkCallback(configuration, changed(parameters, { iss }), "a-state")),
      ).toMatchObject({
        kind: "invalid",
      });
    // A server that does not announce it may leave it out, but not name another.
    const silent = { ...configuration, namesItself: false };
    client.checkCallback(silent, changed(parameters, { iss: undefined }), "a-state");
    expect(
      failureOf(() => client.checkCallback(silent, changed(parameters, { iss: other.issuer }), "a-state")),
    ).toMatchObject({ kind: "invalid" });
  });

  test("is refused with a parameter twice, with no code, and with tokens beside it", async () => {
    const { parameters } = await consentTo(client, configuration, "ada");
    const twice = (name: string) => new URLSearchParams([...parameters, [name, "x"]]);
    const given = [
      ...["code", "state", "iss"].map(twice),
      changed(parameters, { code: undefined }),
      changed(parameters, { code: "x\n" }),
      changed(parameters, { id_token: "x" }),
      changed(parameters, { response: "x" }),
    ];
    for (const each of given)
      expect(failureOf(() => client.checkCallback(configuration, each, "a-state"))).toMatchObject({ kind: "invalid" });
  });

  test("is refused at another server: its code is worth nothing there, and is not even sent", async () => {
    const { parameters, secrets } = await consentTo(client, configuration, "ada");
    const before = other.requests.length;
    await expect(client.exchangeCode(owner, otherConfiguration, { parameters, secrets }, soon())).rejects.toMatchObject(
      {
        kind: "invalid",
      },
    );
    expect(other.requests).toHaveLength(before);
  });

  test("is refused with the code of another browser: its verifier is missing", async () => {
    const attacker = await consentTo(client, configuration, "eve");
    const victim = client.newConsentSecrets("a-state");
    await expect(
      client.exchangeCode(owner, configuration, { parameters: attacker.parameters, secrets: victim }, soon()),
    ).rejects.toMatchObject({ kind: "refused", message: expect.stringContaining("400 invalid_grant") });
  });

  test("is refused the second time, and the tokens of the first no longer count", async () => {
    const { parameters, secrets } = await consentTo(client, configuration, "bob");
    const { accessToken } = await client.exchangeCode(owner, configuration, { parameters, secrets }, soon());
    await expect(client.exchangeCode(owner, configuration, { parameters, secrets }, soon())).rejects.toMatchObject({
      kind: "refused",
    });
    expect(await provider.verifyToken(accessToken)).toBeUndefined();
  });

  test("is refused for another redirect address", async () => {
    const { parameters, secrets } = await consentTo(client, configuration, "ada");
    const elsewhere = { ...configuration, redirectUri: otherConfiguration.redirectUri };
    await expect(client.exchangeCode(owner, elsewhere, { parameters, secrets }, soon())).rejects.toMatchObject({
      kind: "refused",
    });
  });

  test("distinguishes a person who declined from a server that has a problem, in our own words", async () => {
    const secrets = client.newConsentSecrets("a-state");
    const start = await client.authorizationUrl(configuration, secrets);
    const back = new URL(await consentAtProvider(createBrowserJar(), start.href, { login: "ada", decision: "deny" }));
    const failure = failureOf(() => client.checkCallback(configuration, back.searchParams, "a-state"));
    expect(failure).toMatchObject({ kind: "denied" });
    expect(String(failure)).not.toContain("<b>");
    const kinds = {
      temporarily_unavailable: "unavailable",
      invalid_scope: "misconfigured",
      consent_required: "denied",
      "<script>": "invalid",
    };
    for (const [error, kind] of Object.entries(kinds)) {
      const given = failureOf(() =>
        client.checkCallback(configuration, changed(back.searchParams, { error }), "a-state"),
      );
      expect(given).toMatchObject({ kind });
      expect(String(given)).not.toContain("<script>");
    }
  });
});
