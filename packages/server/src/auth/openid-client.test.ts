import { createBrowserJar, signInAtIssuer } from "@perch/testkit/browsers/browser-jar.ts";
import { type Account, type PeopleIssuer, startPeopleIssuer } from "@perch/testkit/identity/people-issuer.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFindIssuer } from "./oauth-issuer.ts";
import { createOpenIdClient, type OpenIdClient, type PersonTokens } from "./openid-client.ts";

const perch = "http://127.0.0.1:7499";
const accounts = new Map<string, Account>();
let issuer: PeopleIssuer;
let withoutRefresh: PeopleIssuer;

const resetAccounts = () =>
  accounts.set("ada", { name: "Ada", email: "ada@acme.example", groups: ["perch-admins"] }).set("eve", { groups: [] });

beforeAll(async () => {
  resetAccounts();
  const options = { origins: [perch], accounts };
  [issuer, withoutRefresh] = await Promise.all([
    startPeopleIssuer(options),
    startPeopleIssuer({ ...options, refreshTokens: false, groupsInIdToken: false, accessTokenSeconds: 60 }),
  ]);
});
afterAll(() => Promise.all([issuer.stop(), withoutRefresh.stop()]));

type Fetch = typeof globalThis.fetch;

function clientOf(of: PeopleIssuer, { fetch = globalThis.fetch, now = Date.now, address = of.issuer } = {}) {
  const share = { hold: <T>(_: string, work: () => Promise<T>) => work() };
  return createOpenIdClient({
    settings: {
      issuer: address,
      clientId: of.clientId,
      clientSecret: of.clientSecret,
      scopes: ["openid", "profile", "email", "groups"],
      groupsClaim: "groups",
      redirectUri: `${perch}/console/oidc/callback`,
    },
    findIssuer: createFindIssuer({ fetch, now, share }),
    fetch,
    now,
  });
}

/** To the point where the issuer has sent the browser back. */
async function comeBack(client: OpenIdClient, login = "ada") {
  const { url, secrets } = await client.begin();
  const back = new URL(await signInAtIssuer(createBrowserJar(), url.href, { login }));
  return { secrets, back: back.searchParams };
}

const signIn = async (client: OpenIdClient, login?: string) => {
  const { back, secrets } = await comeBack(client, login);
  return client.finish(back, secrets);
};

/** As far as the claims. */
const askAgain = async (client: OpenIdClient, subject: string, before: PersonTokens) => {
  const { tokens, readClaims } = await client.ask(subject, before);
  return { tokens, claims: await readClaims() };
};

/** Changes the ID token in answers of the token endpoint, and signs it with the issuer's own key. */
const withIdToken =
  (change: Record<string, unknown>, isRefresh = false): Fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).endsWith("/token") || String(init?.body).includes("refresh_token") !== isRefresh)
      return response;
    const body = (await response.json()) as { id_token: string };
    const id_token = await issuer.signToken({ ...decodeJwt(body.id_token), ...change });
    return Response.json({ ...body, id_token });
  };

describe("a sign-in", () => {
  test("brings the person's claims and groups, from the ID token or from userinfo", async () => {
    for (const of of [issuer, withoutRefresh]) {
      const { claims, tokens } = await signIn(clientOf(of));
      expect(claims).toMatchObject({
        sub: "ada",
        name: "Ada",
        email: "ada@acme.example",
        groups: ["perch-admins"],
      });
      expect(tokens.refreshToken === null).toBe(of === withoutRefresh);
    }
  });

  test("asks with PKCE, a state and a nonce that are new each time", async () => {
    const [first, second] = await Promise.all([clientOf(issuer).begin(), clientOf(issuer).begin()]);
    expect(first.url.searchParams.get("code_challenge_method")).toBe("S256");
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(first.url.searchParams.get(name)).toMatch(/^[\w-]{43}$/);
      expect(first.url.searchParams.get(name)).not.toBe(second.url.searchParams.get(name));
    }
    expect(first.url.href).not.toContain(first.secrets.codeVerifier);
  });

  test("is refused with the state of another browser, without one, and with that of another sign-in", async () => {
    const client = clientOf(issuer);
    const { back, secrets } = await comeBack(client);
    const { secrets: others } = await client.begin();
    const withoutState = new URLSearchParams(back);
    withoutState.delete("state");
    for (const [parameters, used] of [
      [back, others],
      [withoutState, secrets],
    ] as const)
      await expect(client.finish(parameters, used)).rejects.toMatchObject({ kind: "invalid" });
  });

  test("is refused with a code that was made for another browser: its PKCE verifier is missing", async () => {
    const client = clientOf(issuer);
    const [attacker, victim] = await Promise.all([comeBack(client), client.begin()]);
    const injected = new URLSearchParams(attacker.back);
    injected.set("state", victim.secrets.state);
    await expect(client.finish(injected, victim.secrets)).rejects.toMatchObject({
      kind: "invalid",
      message: "the issuer answered 400 invalid_grant",
    });
  });

  test("is refused with a code that was used before", async () => {
    const client = clientOf(issuer);
    const { back, secrets } = await comeBack(client);
    await client.finish(back, secrets);
    await expect(client.finish(back, secrets)).rejects.toMatchObject({ kind: "invalid" });
  });

  test("is refused when the answer names another issuer, or none although this one always does", async () => {
    const client = clientOf(issuer);
    const { back, secrets } = await comeBack(client);
    expect(back.get("iss")).toBe(issuer.issuer);
    for (const iss of ["https://evil.example", undefined]) {
      const changed = new URLSearchParams(back);
      if (iss === undefined) changed.delete("iss");
      else changed.set("iss", iss);
      await expect(client.finish(changed, secrets)).rejects.toMatchObject({ kind: "invalid" });
    }
  });

  test.each([
    ["another nonce", { nonce: "another" }],
    ["no nonce", { nonce: undefined }],
    ["another audience", { aud: "another-client" }],
    ["another issuer", { iss: "https://evil.example" }],
    ["a time that has passed", { exp: 1_000_000 }],
  ])("is refused when the ID token has %s", async (_, change) => {
    await expect(signIn(clientOf(issuer, { fetch: withIdToken(change) }))).rejects.toMatchObject({ kind: "invalid" });
  });

  test("is refused when the ID token has another issuer's signature, or none", async () => {
    const forge =
      (forged: (token: string) => string): Fetch =>
      async (input, init) => {
        const response = await fetch(input, init);
        if (!String(input).endsWith("/token")) return response;
        const body = (await response.json()) as { id_token: string };
        return Response.json({ ...body, id_token: forged(body.id_token) });
      };
    const claimsOf = (token: string) => token.split(".")[1];
    const unsigned = Buffer.from('{"alg":"none"}').toString("base64url");
    for (const forged of [
      (token: string) => `${token.split(".").slice(0, 2).join(".")}.${"A".repeat(342)}`,
      (token: string) => `${unsigned}.${claimsOf(token)}.`,
    ])
      await expect(signIn(clientOf(issuer, { fetch: forge(forged) }))).rejects.toMatchObject({ kind: "invalid" });
  });

  test("that the person cancels is denied, and nothing that the issuer wrote is repeated", async () => {
    const client = clientOf(issuer);
    const { url, secrets } = await client.begin();
    const back = new URL(await signInAtIssuer(createBrowserJar(), url.href, { cancel: "1" }));
    expect(back.searchParams.get("error_description")).toBe("<b>text</b>");
    await expect(client.finish(back.searchParams, secrets)).rejects.toMatchObject({
      kind: "denied",
      message: "the issuer sent the browser back with access_denied",
    });
    // Any browser can send this error, so it must not mark the issuer as unavailable.
    back.searchParams.set("error", "temporarily_unavailable");
    await expect(client.finish(back.searchParams, secrets)).rejects.toMatchObject({ kind: "denied" });
    back.searchParams.set("error", "<script>");
    await expect(client.finish(back.searchParams, secrets)).rejects.toMatchObject({
      kind: "invalid",
      message: "the issuer sent the browser back with an unknown error",
    });
  });

  test("at an issuer that does not answer, answers with an error or says it is another, is unavailable", async () => {
    const nowhere = clientOf(issuer, { address: `http://127.0.0.1:${await freePort()}` });
    await expect(nowhere.begin()).rejects.toMatchObject({ kind: "unavailable", message: "ECONNREFUSED" });
    const asOther = clientOf(issuer, { address: issuer.issuer.replace("127.0.0.1", "localhost") });
    await expect(asOther.begin()).rejects.toMatchObject({ kind: "unavailable" });
    const failing: Fetch = async (input, init) =>
      String(input).endsWith("/token") ? new Response("<h1>Bad gateway</h1>", { status: 502 }) : fetch(input, init);
    await expect(signIn(clientOf(issuer, { fetch: failing }))).rejects.toMatchObject({ kind: "unavailable" });
  });
});

describe("asking again", () => {
  test("uses the refresh token, which is replaced, and sees groups that have changed", async () => {
    const client = clientOf(issuer);
    const { tokens } = await signIn(client);
    accounts.set("ada", { groups: ["perch-viewers"] });
    const asked = await askAgain(client, "ada", tokens);
    resetAccounts();
    expect(asked.claims).toMatchObject({ sub: "ada", groups: ["perch-viewers"] });
    expect(asked.tokens.refreshToken).not.toBe(tokens.refreshToken);
    await expect(askAgain(client, "ada", tokens)).rejects.toMatchObject({ kind: "refused" });
  });

  test("gives the new refresh token even if the ID token beside it does not count", async () => {
    const { tokens } = await signIn(clientOf(issuer));
    const client = clientOf(issuer, { fetch: withIdToken({ exp: 1_000_000 }, true) });
    const asked = await client.ask("ada", tokens);
    await expect(asked.readClaims()).rejects.toMatchObject({ kind: "invalid" });
    const again = await askAgain(clientOf(issuer), "ada", asked.tokens);
    expect(again.claims).toMatchObject({ sub: "ada", groups: ["perch-admins"] });
  });

  test("without a refresh token asks userinfo, until the access token expires", async () => {
    const { tokens } = await signIn(clientOf(withoutRefresh));
    accounts.set("ada", { groups: ["perch-viewers"] });
    expect((await askAgain(clientOf(withoutRefresh), "ada", tokens)).claims).toMatchObject({
      groups: ["perch-viewers"],
    });
    resetAccounts();
    const later = clientOf(withoutRefresh, { now: () => Date.now() + 61_000 });
    await expect(askAgain(later, "ada", tokens)).rejects.toMatchObject({ kind: "refused" });
  });

  test("is refused once the account is gone, with a refresh token and without", async () => {
    for (const of of [issuer, withoutRefresh]) {
      const { tokens } = await signIn(clientOf(of));
      accounts.delete("ada");
      await expect(askAgain(clientOf(of), "ada", tokens)).rejects.toMatchObject({ kind: "refused" });
      resetAccounts();
    }
  });

  test("is refused when the answer is about another person", async () => {
    const { tokens } = await signIn(clientOf(issuer));
    const client = clientOf(issuer, { fetch: withIdToken({ sub: "eve" }, true) });
    await expect(askAgain(client, "ada", tokens)).rejects.toMatchObject({ kind: "refused" });
    const { tokens: others } = await signIn(clientOf(withoutRefresh), "eve");
    await expect(askAgain(clientOf(withoutRefresh), "ada", others)).rejects.toMatchObject({ kind: "refused" });
  });

  test("is unavailable when the issuer refuses the client itself: the operator can mend that while people go on", async () => {
    const { tokens } = await signIn(clientOf(issuer));
    const client = clientOf({ ...issuer, clientSecret: "rotated" });
    await expect(askAgain(client, "ada", tokens)).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("compare client_id and client_secret in PERCH_OIDC"),
    });
  });
});
