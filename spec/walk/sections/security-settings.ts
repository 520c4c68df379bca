import { createHmac } from "node:crypto";
import { currentCode } from "@perch/testkit/identity/one-time-code.ts";
import { oidcClient } from "@perch/testkit/identity/open-id-provider.ts";
import { answers, equal, holds, refuses, single } from "../expectations.ts";
import { sendRequest } from "../http-client.ts";
import { onOwnServer, type Statement, statement } from "../statement.ts";
import { newAgent, newKey, type World } from "../world.ts";

const secret = "a secret that has 32 bytes or more";
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const seconds = () => Math.floor(Date.now() / 1000);

function sign(claims: object, { alg = "HS256", hash = "sha256", key = secret } = {}): string {
  const body = `${encode({ alg, typ: "JWT" })}.${encode(claims)}`;
  return `${body}.${createHmac(hash, key).update(body).digest("base64url")}`;
}

/** Whether a user's token is accepted by an agent with `auth`. */
const withToken = (world: World, path: string, token?: string) =>
  world.call("GET", path, { headers: token === undefined ? {} : { "x-user-token": token } });

const jwtAgent = (world: World) =>
  world.once("jwt agent", () => {
    world.removal.headers["x-user-token"] = sign(valid());
    return newAgent(world, { auth: { type: "jwt", secret } });
  });
const valid = () => ({ user_id: "ada", iat: seconds(), exp: seconds() + 3600 });
/** The log, because the key that set `auth` can read and update the agent itself without a token for an hour. */
const refusesToken = async (world: World, token: string | undefined, what: string) =>
  refuses(await withToken(world, `${(await jwtAgent(world)).path}/logs`, token), 401, "unauthorized", what);

const jwt: readonly Statement[] = [
  statement("jwt.hs256", "JWT: HS256 signature", async (world) => {
    answers(await withToken(world, (await jwtAgent(world)).path, sign(valid())), 200);
    await refusesToken(world, sign(valid(), { alg: "HS512", hash: "sha512" }), "HS512");
    await refusesToken(world, `${encode({ alg: "none" })}.${encode(valid())}.`, "no signature");
  }),
  ...["user_id", "exp", "iat"].map((claim) =>
    statement(`jwt.${claim.replace("_", "-")}`, `JWT: claim ${claim}`, async (world) => {
      await refusesToken(world, sign({ ...valid(), [claim]: undefined }), `a token without ${claim}`);
    }),
  ),
  statement("jwt.one-hour", "JWT: lifetime of one hour", async (world) => {
    const iat = seconds();
    answers(await withToken(world, (await jwtAgent(world)).path, sign({ user_id: "ada", iat, exp: iat + 3600 })), 200);
    await refusesToken(world, sign({ user_id: "ada", iat, exp: iat + 3601 }), "a longer lifetime");
  }),
  statement("jwt.expired", "JWT: an expired token is rejected as unauthorized", async (world) => {
    await refusesToken(world, sign({ user_id: "ada", iat: seconds() - 3600, exp: seconds() - 1 }), "an expired token");
  }),
  statement("jwt.invalid", "JWT: an invalid token is rejected as unauthorized", async (world) => {
    await refusesToken(world, sign(valid(), { key: "another secret of 32 bytes or more" }), "another signature");
    await refusesToken(world, "nonsense", "no token");
    await refusesToken(world, undefined, "a missing token");
  }),
];

const audience = "urn:perch";
const oauthAgent = (world: World) =>
  world.once("oauth agent", () => {
    const scopes = ["read:agents", "write:agents"];
    const { issuer: provider } = world.own().issuer;
    return newAgent(world, { auth: { type: "oauth2", provider, ...oidcClient, audience, scopes } });
  });
const issue = (world: World, scope: string) => world.own().issuer.issueToken({ scope, resource: audience });
const authOf = async (world: World) => {
  const token = await issue(world, "read:agents");
  return single(await withToken(world, (await oauthAgent(world)).path, token), 200).auth;
};

const oauth: readonly Statement[] = [
  onOwnServer("oauth.type", "OAuth 2.0: auth.type = oauth2", async (world) => {
    equal((await authOf(world)).type, "oauth2", "type");
    refuses(await withToken(world, `${(await oauthAgent(world)).path}/logs`), 401, "unauthorized", "no token");
  }),
  onOwnServer("oauth.provider", "OAuth 2.0: auth.provider", async (world) => {
    equal((await authOf(world)).provider, world.own().issuer.issuer, "provider");
    const { path } = await oauthAgent(world);
    refuses(await withToken(world, path, sign(valid())), 401, "unauthorized", "a token of another issuer");
  }),
  onOwnServer("oauth.client-id", "OAuth 2.0: auth.clientId", async (world) => {
    equal((await authOf(world)).clientId, oidcClient.clientId, "clientId");
  }),
  onOwnServer("oauth.client-secret", "OAuth 2.0: auth.clientSecret", async (world) => {
    // An opaque token has no meaning without the issuer, which the client's secret gives access to.
    const resource = "urn:opaque";
    const { issuer: provider } = world.own().issuer;
    const auth = { type: "oauth2", provider, ...oidcClient, audience: resource, scopes: ["read:agents"] };
    const right = await newAgent(world, { auth });
    const wrong = await newAgent(world, { auth: { ...auth, clientSecret: "another secret" } });
    // A new token for each, because the issuer's answer about a token is cached for a while.
    const issueOpaque = () => world.own().issuer.issueToken({ scope: "read:agents", resource });
    holds((await withToken(world, wrong.path, await issueOpaque())).status >= 400, "a wrong secret was accepted");
    answers(await withToken(world, right.path, await issueOpaque()), 200, "the right secret");
  }),
  onOwnServer("oauth.scopes", "OAuth 2.0: auth.scopes (array)", async (world) => {
    equal((await authOf(world)).scopes, ["read:agents", "write:agents"], "scopes");
    const { issuer: provider } = world.own().issuer;
    const auth = { type: "oauth2", provider, ...oidcClient, scopes: "read:agents" };
    const body = { name: "walk-scopes", model: "perch/echo", auth };
    refuses(await world.call("POST", "/v1/agents?force=true", { body }), 400, "invalid_request", "scopes as a string");
  }),
  onOwnServer("oauth.read", "OAuth 2.0: scope read:agents", async (world) => {
    const { path } = await oauthAgent(world);
    answers(await withToken(world, path, await issue(world, "read:agents")), 200);
    refuses(await withToken(world, path, await issue(world, "write:agents")), 403, "forbidden", "another scope");
  }),
  onOwnServer("oauth.write", "OAuth 2.0: scope write:agents", async (world) => {
    const { path } = await oauthAgent(world);
    const change = async (scope: string) =>
      world.call("POST", `${path}/pause`, { headers: { "x-user-token": await issue(world, scope) } });
    refuses(await change("read:agents"), 403, "forbidden", "another scope");
    single(await change("write:agents"), 200);
  }),
];

const clientFiles = { clientCert: "/etc/perch/client.crt", clientKey: "/etc/perch/client.key" };
const mtlsAgent = (world: World, enabled = true) =>
  newAgent(world, { security: { mtls: { enabled, ...clientFiles, caCert: world.own().authority.certFile } } });

const ipWhitelist = (enabled: boolean, addresses: readonly string[]) => ({
  security: { ipWhitelist: { enabled, addresses } },
});
const refusesAddress = async (world: World, path: string, from = "127.0.0.1") =>
  refuses(await world.call("GET", path, { from }), 403, "forbidden", from);

const transport: readonly Statement[] = [
  onOwnServer("ip.enabled", "IP allow-list: security.ipWhitelist.enabled (boolean)", async (world) => {
    const off = await newAgent(world, ipWhitelist(false, ["192.0.2.1"]));
    answers(await world.call("GET", off.path, { from: "127.0.0.1" }), 200, "a list that is off");
    await refusesAddress(world, (await newAgent(world, ipWhitelist(true, ["192.0.2.1"]))).path);
  }),
  onOwnServer("ip.addresses", "security.ipWhitelist.addresses (array of IP addresses)", async (world) => {
    const { path } = await newAgent(world, ipWhitelist(true, ["127.0.0.2", "::1"]));
    answers(await world.call("GET", path, { from: "127.0.0.2" }), 200, "a listed address");
    await refusesAddress(world, path, "127.0.0.3");
  }),
  onOwnServer("ip.ranges", "security.ipWhitelist.addresses (or CIDR ranges)", async (world) => {
    const { path } = await newAgent(world, ipWhitelist(true, ["127.0.1.0/24"]));
    answers(await world.call("GET", path, { from: "127.0.1.77" }), 200, "an address of the range");
    await refusesAddress(world, path, "127.0.2.77");
  }),
  onOwnServer("mtls.enabled", "Mutual TLS: security.mtls.enabled (boolean)", async (world) => {
    const { path } = await mtlsAgent(world, false);
    answers(await overTls(world, path), 200, "mtls that is off");
    refuses(await overTls(world, (await mtlsAgent(world)).path), 401, "unauthorized", "no certificate");
  }),
  ...["clientCert", "clientKey"].map((field) =>
    onOwnServer(`mtls.${field}`, `Mutual TLS: ${field} (file path)`, async (world) => {
      const { path } = await mtlsAgent(world);
      const { mtls } = single(await overTls(world, path, world.own().clientCertificate), 200).security;
      equal(mtls[field], clientFiles[field as "clientCert"], field);
    }),
  ),
  onOwnServer("mtls.ca-cert", "Mutual TLS: caCert (file path)", async (world) => {
    const { path } = await mtlsAgent(world);
    answers(await overTls(world, path, world.own().clientCertificate), 200, "a certificate of the authority");
    refuses(await overTls(world, path, world.own().foreignCertificate), 401, "unauthorized", "another authority");
  }),
  onOwnServer("https.enforce", "HTTPS: security.enforceHttps (boolean)", async (world) => {
    const off = await newAgent(world, { security: { enforceHttps: false } });
    answers(await world.call("GET", off.path), 200, "plain HTTP");
    const { path } = await newAgent(world, { security: { enforceHttps: true } });
    refuses(await world.call("GET", path), 403, "forbidden", "plain HTTP");
    answers(await overTls(world, path), 200, "HTTPS");
  }),
  onOwnServer("https.hsts-enabled", "HTTPS: security.hsts.enabled (boolean)", async (world) => {
    const { path } = await newAgent(world, { security: { hsts: { enabled: false, maxAge: 300 } } });
    equal((await overTls(world, path)).headers["strict-transport-security"], undefined, "the header");
  }),
  onOwnServer("https.hsts-max-age", "HTTPS: security.hsts.maxAge (integer, seconds)", async (world) => {
    const { path } = await newAgent(world, { security: { hsts: { enabled: true, maxAge: 86_400 } } });
    const header = (await overTls(world, path)).headers["strict-transport-security"] ?? "";
    equal(/max-age=(\d+)/.exec(header)?.[1], "86400", "max-age");
  }),
];

function overTls(world: World, path: string, certificate?: { readonly cert: string; readonly key: string }) {
  const { tlsUrl, authority } = world.own();
  const own = certificate && { cert: certificate.cert, key: certificate.key };
  const headers = { authorization: `Bearer ${world.key}` };
  return sendRequest("GET", tlsUrl + path, { headers, tls: { ca: authority.cert, ...own } });
}

const limited = (world: World, enabled: boolean) =>
  newAgent(world, { security: { rateLimit: { enabled, requests: 3, window: "1m" } } });

const rateLimit: readonly Statement[] = [
  statement("rate-limit.enabled", "Rate limit: security.rateLimit.enabled (boolean)", async (world) => {
    const { path } = await limited(world, false);
    for (let count = 0; count < 5; count++) answers(await world.call("GET", path), 200, "a limit that is off");
  }),
  statement("rate-limit.requests", "Rate limit: requests (integer)", async (world) => {
    const { path } = await limited(world, true);
    for (let count = 0; count < 3; count++) answers(await world.call("GET", path), 200, `request ${count + 1}`);
    refuses(await world.call("GET", path), 429, "rate_limited", "request 4 of 3");
  }),
  statement("rate-limit.window", "Rate limit: window (duration string such as 1m)", async (world) => {
    const { path } = await limited(world, true);
    for (let count = 0; count < 3; count++) await world.call("GET", path);
    // Three in a minute: one more every 20 seconds.
    const { retry_after: seconds } = refuses(await world.call("GET", path), 429, "rate_limited");
    holds(seconds > 10 && seconds <= 20, `retry_after is ${seconds}`);
    const body = { name: "walk-window", model: "perch/echo", security: { rateLimit: { enabled: true, requests: 3 } } };
    refuses(await world.call("POST", "/v1/agents", { body }), 400, "invalid_request", "no window");
  }),
];

const guarded = (world: World, enabled: boolean) =>
  newAgent(world, { security: { mfa: { enabled, operations: ["delete", "update"] } } });

/** A key with a second factor, enrolled before any agent demands one. */
const enrolled = (world: World) =>
  world.once("second factor", async () => {
    const { key } = await newKey(world, { role: "admin" });
    const { secret: shared } = single(await world.call("POST", "/v1/mfa", { key }), 201, "Enrol");
    single(await world.call("POST", "/v1/mfa/confirm", { key, body: { code: await currentCode(shared, -1) } }), 200);
    const body = { code: await currentCode(shared) };
    const { token } = single(await world.call("POST", "/v1/mfa/step-up", { key, body }), 201, "Step up");
    world.removal.key = key;
    world.removal.headers["x-mfa-code"] = String(token);
    return { key, headers: { "x-mfa-code": String(token) } };
  });

const secondFactor: readonly Statement[] = [
  statement("mfa.enabled", "Multi-factor authentication can be enabled per agent", async (world) => {
    await enrolled(world);
    const off = await guarded(world, false);
    single(await world.call("PATCH", off.path, { body: { temperature: 1 } }), 200, "mfa that is off");
    const { path } = await guarded(world, true);
    answers(await world.call("GET", path), 200, "an operation that is not named");
    refuses(await world.call("PATCH", path, { body: { temperature: 1 } }), 401, "unauthorized", "no second factor");
  }),
  statement("mfa.update", "and required for named operations: update", async (world) => {
    const { key, headers } = await enrolled(world);
    const { path } = await guarded(world, true);
    refuses(await world.call("PATCH", path, { key, body: { temperature: 1 } }), 401, "unauthorized", "no code");
    single(await world.call("PATCH", path, { key, headers, body: { temperature: 1 } }), 200, "with a second factor");
  }),
  statement("mfa.delete", "and required for named operations: delete", async (world) => {
    const { key, headers } = await enrolled(world);
    const { path } = await guarded(world, true);
    refuses(await world.call("DELETE", path, { key }), 401, "unauthorized", "no code");
    single(await world.call("DELETE", path, { key, headers }), 200, "with a second factor");
  }),
];

/** Second factors come last: an agent that demands one makes others harder to enrol. */
export const securitySettings: readonly Statement[] = [...oauth, ...jwt, ...transport, ...rateLimit, ...secondFactor];
