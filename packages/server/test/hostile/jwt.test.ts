import { createHmac, generateKeyPairSync } from "node:crypto";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { expectRefusal, sendRawRequest } from "../support/raw-request.ts";

const secret = "a secret that has 32 bytes or more";
const oldSecret = "the secret before, of 32 bytes too";
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const now = () => Math.floor(Date.now() / 1000);
const validClaims = () => ({ user_id: "user-1", iat: now(), exp: now() + 3600 });

/** Signs by hand, so that tests can create tokens that a library refuses to create. */
function sign(
  claims: unknown,
  { header = { alg: "HS256", typ: "JWT" } as object, key = secret, hash = "sha256" } = {},
) {
  const body = `${encode(header)}.${typeof claims === "string" ? claims : encode(claims)}`;
  return `${body}.${createHmac(hash, key).update(body).digest("base64url")}`;
}

let perch: Awaited<ReturnType<typeof startPerch>>;
let organisation: Organisation;
/** The key that sets `auth` has a grace period of an hour, so another one asks. */
let otherKey: string;
beforeAll(async () => {
  perch = await startPerch();
  organisation = await perch.createOrganisation();
  const createAgent = (name: string, auth: object) =>
    organisation.call("POST /v1/agents", { body: { name, model: "perch/echo", auth: auth as never } }).then(ok);
  otherKey = await organisation.createKey({ role: "admin" });
  await createAgent("bot", { type: "jwt", secret });
  await createAgent("rotating", { type: "jwt", secret, previousSecret: oldSecret });
});
afterAll(() => perch.stop());

const requestWithToken = (token: string | string[] | undefined, agent = "bot", method = "GET") =>
  sendRawRequest(`${perch.url}/v1/agents/${agent}`, {
    method,
    key: otherKey,
    headers: token === undefined ? {} : { "x-user-token": token },
  });

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const [head = "", body = "", tag = ""] = sign(validClaims()).split(".");

const hostile: readonly (readonly [string, () => string | string[] | undefined])[] = [
  ["no token", () => undefined],
  ["an empty token", () => " "],
  ["a word", () => "secret"],
  ["the API key", () => organisation.adminKey],
  ["the secret itself", () => secret.replaceAll(" ", "-")],
  ["alg none without a signature", () => `${encode({ alg: "none" })}.${encode(validClaims())}.`],
  ["alg NONE in capitals", () => `${encode({ alg: "NONE" })}.${encode(validClaims())}.`],
  ["alg none with a signature", () => sign(validClaims(), { header: { alg: "none" } })],
  ["no alg", () => sign(validClaims(), { header: { typ: "JWT" } })],
  ["alg hs256 in small letters", () => sign(validClaims(), { header: { alg: "hs256" } })],
  ["alg HS512, rightly signed", () => sign(validClaims(), { header: { alg: "HS512" }, hash: "sha512" })],
  ["alg HS384, rightly signed", () => sign(validClaims(), { header: { alg: "HS384" }, hash: "sha384" })],
  ["alg RS256 under the secret", () => sign(validClaims(), { header: { alg: "RS256" } })],
  ["alg as a list", () => sign(validClaims(), { header: { alg: ["HS256"] } })],
  ["alg as a number", () => sign(validClaims(), { header: { alg: 256 } })],
  ["another secret", () => sign(validClaims(), { key: "another secret of 32 bytes or more" })],
  ["an empty secret", () => sign(validClaims(), { key: "" })],
  ["a private key as the secret", () => sign(validClaims(), { key: privateKey })],
  ["kid that names a file", () => sign(validClaims(), { header: { alg: "HS256", kid: "/dev/null" }, key: "" })],
  ["kid that is SQL", () => sign(validClaims(), { header: { alg: "HS256", kid: "' union select 'x" }, key: "x" })],
  ["kid that climbs", () => sign(validClaims(), { header: { alg: "HS256", kid: "../../etc/passwd" }, key: "root" })],
  [
    "its own key in jwk",
    () => sign(validClaims(), { header: { alg: "HS256", jwk: { kty: "oct", k: "eA" } }, key: "x" }),
  ],
  [
    "a key's address in jku",
    () => sign(validClaims(), { header: { alg: "HS256", jku: "http://127.0.0.1/k" }, key: "x" }),
  ],
  [
    "a certificate's address in x5u",
    () => sign(validClaims(), { header: { alg: "HS256", x5u: "http://127.0.0.1" }, key: "x" }),
  ],
  ["an unknown critical extension", () => sign(validClaims(), { header: { alg: "HS256", crit: ["x"], x: 1 } })],
  ["an unencoded payload", () => sign(validClaims(), { header: { alg: "HS256", crit: ["b64"], b64: false } })],
  ["a changed payload", () => `${head}.${encode({ ...validClaims(), user_id: "root" })}.${tag}`],
  ["no signature", () => `${head}.${body}.`],
  ["half of the signature", () => `${head}.${body}.${tag.slice(0, 20)}`],
  ["a signature with something after it", () => `${head}.${body}.${tag}.${tag}`],
  ["two parts", () => `${head}.${body}`],
  ["only dots", () => ".."],
  ["an expired token", () => sign({ ...validClaims(), iat: now() - 7200, exp: now() - 3600 })],
  ["a token that ends now", () => sign({ ...validClaims(), iat: now() - 10, exp: now() })],
  ["a token from the future", () => sign({ ...validClaims(), iat: now() + 600, exp: now() + 1200 })],
  ["nbf in the future", () => sign({ ...validClaims(), nbf: now() + 600 })],
  ["a life of more than an hour", () => sign({ ...validClaims(), exp: now() + 3601 })],
  ["a life of a hundred years", () => sign({ ...validClaims(), exp: now() + 3_153_600_000 })],
  ["no exp", () => sign({ user_id: "u", iat: now() })],
  ["no iat", () => sign({ user_id: "u", exp: now() + 60 })],
  ["no user_id", () => sign({ iat: now(), exp: now() + 60 })],
  ["an empty user_id", () => sign({ ...validClaims(), user_id: "" })],
  ["user_id as an object", () => sign({ ...validClaims(), user_id: { $ne: null } })],
  ["user_id as a number", () => sign({ ...validClaims(), user_id: 1 })],
  ["user_id with a NUL", () => sign({ ...validClaims(), user_id: "u\0" })],
  ["user_id of 10,000 characters", () => sign({ ...validClaims(), user_id: "u".repeat(5000) })],
  ["exp as text", () => sign({ ...validClaims(), exp: String(now() + 60) })],
  [
    "exp too large for a number",
    () => sign(Buffer.from(`{"user_id":"u","iat":${now()},"exp":1e999}`).toString("base64url")),
  ],
  [
    "iat and exp too large for a number",
    () => sign(Buffer.from('{"user_id":"u","iat":1e999,"exp":1e999}').toString("base64url")),
  ],
  ["a negative iat", () => sign({ ...validClaims(), iat: -1 })],
  ["exp before iat", () => sign({ ...validClaims(), iat: now() + 20, exp: now() + 10 })],
  ["a list as claims", () => sign([validClaims()])],
  ["null as claims", () => sign(null)],
  ["claims that are not JSON", () => sign(Buffer.from("user_id=u").toString("base64url"))],
  ["a header that is not JSON", () => `${Buffer.from("HS256").toString("base64url")}.${body}.${tag}`],
  ["Bearer before the token", () => `Bearer ${sign(validClaims())}`],
  ["two tokens", () => [sign(validClaims()), sign(validClaims())]],
  ["a token of 9,000 characters", () => sign({ ...validClaims(), more: "x".repeat(6500) })],
];

describe("JWT", () => {
  test.each([
    ["a lifetime of an hour", validClaims],
    ["a lifetime of a minute", () => ({ ...validClaims(), exp: now() + 60 })],
    ["additional claims", () => ({ ...validClaims(), role: "x", aud: "anybody" })],
    ["an issuer clock 20 s ahead", () => ({ user_id: "u", iat: now() + 20, exp: now() + 600 })],
  ])("accepts a token with %s", async (_, claims) => {
    verifies("security.jwt-signature");
    expect((await requestWithToken(sign(claims()))).status).toBe(200);
  });

  test.each(hostile)("401 for %s", async (_, token) => {
    verifies("security.jwt-rejected", "security.jwt-signature");
    expectRefusal(await requestWithToken(token()), 401);
  });

  test("both secrets are accepted during a rotation, and no other", async () => {
    expect((await requestWithToken(sign(validClaims()), "rotating")).status).toBe(200);
    expect((await requestWithToken(sign(validClaims(), { key: oldSecret }), "rotating")).status).toBe(200);
    expectRefusal(await requestWithToken(sign(validClaims(), { key: oldSecret })), 401);
    expectRefusal(
      await requestWithToken(sign(validClaims(), { key: "a third secret of 32 bytes or more" }), "rotating"),
      401,
    );
  });

  test("a token does not replace the key and adds no permission to it", async () => {
    verifies("security.user-token");
    const token = sign(validClaims());
    const url = `${perch.url}/v1/agents/bot`;
    expectRefusal(await sendRawRequest(url, { headers: { "x-user-token": token } }), 401);
    expectRefusal(await sendRawRequest(url, { key: token, headers: { "x-user-token": token } }), 401);
    const viewer = await organisation.createKey({ role: "viewer" });
    expectRefusal(
      await sendRawRequest(url, { method: "DELETE", key: viewer, headers: { "x-user-token": token } }),
      403,
    );
  });

  test("no response, row or audit entry shows a secret; the audit log names the user who made a change", async () => {
    const shown = await requestWithToken(sign(validClaims()), "rotating");
    expect(shown.body).toMatchObject({ data: { auth: { type: "jwt", hasPreviousSecret: true } } });
    expect(JSON.stringify(shown.body)).not.toContain(secret);
    expect((await requestWithToken(sign({ ...validClaims(), user_id: "ada" }), "rotating", "DELETE")).status).toBe(200);
    const log = `${perch.url}/v1/audit-log?operation=deleteAgent`;
    const headers = { "x-user-token": sign(validClaims()) };
    const { body } = await sendRawRequest(log, { key: organisation.adminKey, headers });
    expect((body as { data: unknown[] }).data[0]).toMatchObject({ actor: "jwt", user_id: "ada" });
  });

  test.each([
    ["31 bytes", { type: "jwt", secret: "x".repeat(31) }],
    ["no secret", { type: "jwt" }],
    ["an unknown type", { type: "basic", secret }],
    ["an unknown field", { type: "jwt", secret, algorithm: "none" }],
  ])("400 for settings with %s", async (_, auth) => {
    const made = await organisation.call("POST /v1/agents", {
      body: { name: "wrong", model: "perch/echo", auth: auth as never },
    });
    expect(made.status).toBe(400);
  });

  test("403 for changing `auth` without manage", async () => {
    const developer = await organisation.createKey({ role: "developer" });
    const body = { name: "mine", model: "perch/echo", auth: { type: "jwt" as const, secret } };
    expect((await organisation.call("POST /v1/agents", { body }, developer)).status).toBe(403);
  });
});
