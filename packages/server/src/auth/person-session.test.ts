import { randomBytes } from "node:crypto";
import type { AuditEntry, Role } from "@perch/contract";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "../../../../spec/verifies.ts";
import { enrolSecondFactor, generateTotpCode } from "../../test/support/authenticator.ts";
import { createSendInSession, type SendInSession, signIn } from "../../test/support/browser.ts";
import { ok } from "../../test/support/contract-client.ts";
import { type Organisation, startApi, usePerch } from "../../test/support/harness.ts";
import { createOrganisationChanges } from "../cache/organisation-changes.ts";
import { parsePublicId } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import { shutDown } from "../platform/shutdown.ts";
import { startSession } from "../resources/console-sessions/start-session.ts";
import { csrfTokenOf } from "./session-token.ts";

const perch = usePerch();
const silent = createLogger("silent");
const issuer = "https://issuer.example";
const groups = { viewer: "perch-viewers", developer: "perch-developers", admin: "perch-admins" };

const nodes = new Map<string, { readonly url: string; readonly stop: () => Promise<unknown> }>();
afterEach(async () => {
  for (const { stop } of nodes.values()) await stop();
  nodes.clear();
});

/** The address of a node where people of this organisation sign in. */
async function nodeOf({ id }: Organisation): Promise<string> {
  const known = nodes.get(id);
  if (known) return known.url;
  const mappings = Object.entries(groups).map(([role, group]) => ({ group, organisation: id, role: role as Role }));
  const oidc = {
    issuer,
    client_id: "perch",
    name: "Acme",
    scopes: ["openid"],
    groups_claim: "groups",
    groups: mappings,
  };
  const { app, shutdownSteps } = await startApi({ ...perch().server.core.config, oidc }, silent);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  nodes.set(id, { url, stop: () => shutDown(shutdownSteps, silent) });
  return url;
}

/** A person whom an issuer has signed in, with the role that the groups give. */
async function signInAsPerson(
  organisation: Organisation,
  role: Role,
  subject = "248289761001",
): Promise<SendInSession> {
  const url = await nodeOf(organisation);
  const { core } = perch().server;
  const { db, sessionDigest, logger } = core;
  const changes = createOrganisationChanges({ db, replaceEpoch: core.gate.replaceEpoch, logger });
  const owner = {
    issuer,
    subject,
    name: "Ada Lovelace",
    email: subject === "248289761001" ? "ada@example.com" : null,
    role,
    groups: [groups[role]],
    checkedAt: new Date(),
    sealedRefreshToken: randomBytes(16),
  };
  const started = await startSession(
    { db, changes, sessionDigest, now: () => new Date() },
    { organisationId: parsePublicId("organisation", organisation.id) ?? "", owner, notAfter: null },
    {
      correlationId: "corr_test",
      address: "192.0.2.1",
      browser: {
        requireSafeSignIn: () => undefined,
        sessionToken: () => undefined,
        cookie: () => "",
        origin: url,
        userAgent: "Firefox",
      },
    },
  );
  if (!started) throw new Error("no session");
  return createSendInSession(url, `perch_session=${started.token}`, csrfTokenOf(started.token));
}

const agent = { name: "bot", model: "perch/echo" };
const post = (body: object) => ({ method: "POST", body });

describe("a person who signed in", () => {
  test("has the role of the session, and is named by it", async () => {
    const organisation = await perch().createOrganisation();
    const send = await signInAsPerson(organisation, "viewer");
    expect((await send("/v1/me")).data).toMatchObject({
      key: { id: expect.stringMatching(/^cse_/), name: "Ada Lovelace", role: "viewer", permissions: ["read"] },
      session: {
        person: { subject: "248289761001", name: "Ada Lovelace", email: "ada@example.com" },
        organisations: [{ id: organisation.id, role: "viewer" }],
      },
    });
    expect((await send("/v1/agents")).status).toBe(200);
    expect((await send("/v1/agents", post(agent))).error?.message).toContain("this session holds read");
  });

  test("is who the audit log names, by the issuer's id and the email address, if there is one, with the session", async () => {
    verifies("console.audited");
    const organisation = await perch().createOrganisation();
    const ada = await signInAsPerson(organisation, "admin");
    const nameless = await signInAsPerson(organisation, "viewer", "issuer-id-of-bob");
    expect((await ada("/v1/agents", post(agent))).status).toBe(201);
    expect((await nameless("/v1/agents", post(agent))).status).toBe(403);
    const entries = () => ada("/v1/audit-log").then(({ data }) => data as AuditEntry[]);
    await expect.poll(async () => (await entries())[0]?.outcome).toBe("refused");
    const [refused, created, , signedIn] = await entries();
    const by = { actor: "person", key_id: null, session_id: expect.stringMatching(/^cse_/) };
    expect(refused).toMatchObject({ ...by, person: "issuer-id-of-bob", operation: "createAgent" });
    expect(created).toMatchObject({
      ...by,
      person: "ada@example.com (248289761001)",
      operation: "createAgent",
      outcome: "changed",
    });
    expect(signedIn).toMatchObject({
      ...by,
      person: "ada@example.com (248289761001)",
      operation: "createConsoleSession",
    });
  });

  test("makes what has no key as its creator, and repeats a request by its Idempotency-Key in the same session alone", async () => {
    const organisation = await perch().createOrganisation();
    const ada = await signInAsPerson(organisation, "admin");
    ok(await organisation.call("POST /v1/agents", { body: agent }));
    const deployment = post({ environment: "production", version: "v1" });
    expect((await ada("/v1/agents/bot/deployments", deployment)).data).toMatchObject({ created_by: null });
    const once = { ...post({ name: "made by Ada", role: "viewer" }), headers: { "idempotency-key": "once" } };
    const first = await ada("/v1/keys", once);
    expect(first.data).toMatchObject({ created_by: null, expires_at: null });
    expect((await ada("/v1/keys", once)).data).toEqual(first.data);
    const elsewhere = await signInAsPerson(organisation, "admin");
    expect((await elsewhere("/v1/keys", once)).error?.code).toBe("conflict");
  });

  test("sees and ends the own sessions, by issuer and subject, and with `manage` all others", async () => {
    verifies("console.sessions-listed");
    const organisation = await perch().createOrganisation();
    const [ada, again] = [await signInAsPerson(organisation, "viewer"), await signInAsPerson(organisation, "viewer")];
    const admin = await signInAsPerson(organisation, "admin", "bob");
    const ids = async (send: SendInSession) =>
      ((await send("/v1/console/sessions")).data as { id: string; current: boolean }[]).map(({ id }) => id);
    expect(await ids(ada)).toHaveLength(2);
    expect(await ids(admin)).toHaveLength(3);
    const [newest = ""] = await ids(ada);
    expect((await ada(`/v1/console/sessions/${newest}`, { method: "DELETE" })).status).toBe(200);
    expect((await again("/v1/me")).status).toBe(401);
    const [bobs = ""] = await ids(admin);
    expect((await ada(`/v1/console/sessions/${bobs}`, { method: "DELETE" })).status).toBe(404);
  });
});

describe("second factors belong to keys, so a person", () => {
  const mfa = { enabled: true, operations: ["update", "delete"] };

  test("is refused where an agent demands one, and told what to do", async () => {
    const organisation = await perch().createOrganisation();
    const send = await signInAsPerson(organisation, "admin");
    expect((await send("/v1/agents", post({ ...agent, security: { mfa } }))).status).toBe(201);
    const change = { method: "PATCH", body: { temperature: 1 } };
    for (const headers of [{}, { "x-mfa-code": "123456" }]) {
      const refused = await send("/v1/agents/bot", { ...change, headers });
      expect(refused.status).toBe(403);
      expect(refused.error?.message).toContain("Sign in with an API key that has one");
    }
    expect((await send("/v1/agents/bot")).status).toBe(200);
  });

  test("cannot enrol one, nor begin an enrolment where one is demanded: no person counts as the operator", async () => {
    const organisation = await perch().createOrganisation();
    const send = await signInAsPerson(organisation, "admin");
    const { key } = ok(await organisation.call("GET /v1/me", {})).data;
    expect((await send("/v1/mfa", { method: "POST" })).status).toBe(403);
    expect((await send("/v1/mfa/step-up", post({ code: "123456" }))).status).toBe(403);
    expect((await send(`/v1/keys/${key.id}/begin-mfa`, { method: "POST" })).status).toBe(201);
    expect((await send("/v1/agents", post({ ...agent, security: { mfa } }))).status).toBe(201);
    expect((await send(`/v1/keys/${key.id}/begin-mfa`, { method: "POST" })).status).toBe(403);
  });

  test("a key's session uses the key's own: the code goes along in X-MFA-Code", async () => {
    const organisation = await perch().createOrganisation();
    const { secret } = await enrolSecondFactor(organisation);
    const { send } = await signIn(perch().url, { api_key: organisation.adminKey });
    expect((await send("/v1/agents", post({ ...agent, security: { mfa } }))).status).toBe(201);
    const change = { method: "PATCH", body: { temperature: 1 } };
    expect((await send("/v1/agents/bot", change)).status).toBe(401);
    const headers = { "x-mfa-code": generateTotpCode(secret) };
    expect((await send("/v1/agents/bot", { ...change, headers })).status).toBe(200);
  });
});
