import { randomBytes } from "node:crypto";
import type { AuditEntry, Role } from "@perch/contract";
import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { enrolSecondFactor } from "../../test/support/authenticator.ts";
import { createSendInSession, type SendInSession, signIn } from "../../test/support/browser.ts";
import { ok } from "../../test/support/contract-client.ts";
import { type Organisation, startApi, usePerch } from "../../test/support/harness.ts";
import {
  createOrganisationWithApprover,
  insertWaitingRun,
  type StoredWait,
} from "../../test/support/stored-approvals.ts";
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
const approvers = "perch-approvers";

const nodes = new Map<string, { readonly url: string; readonly stop: () => Promise<unknown> }>();
afterEach(async () => {
  for (const { stop } of nodes.values()) await stop();
  nodes.clear();
});

/** The address of a node at which people of this organisation sign in. */
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
    groups: [...mappings, { group: approvers, organisation: id, role: "viewer" as const, approve: true }],
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
  { mayApprove } = { mayApprove: false },
): Promise<SendInSession> {
  const url = await nodeOf(organisation);
  const { core } = perch().server;
  const { db, logger } = core;
  const { sessionDigest } = core.keys;
  const changes = createOrganisationChanges({ db, replaceEpoch: core.shared.gate.replaceEpoch, logger });
  const owner = {
    issuer,
    subject,
    name: "Ada Lovelace",
    email: subject === "248289761001" ? "ada@example.com" : null,
    role,
    mayApprove,
    groups: [groups[role], ...(mayApprove ? [approvers] : [])],
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

  test("is named in the audit log, by the issuer's id and the email address, if there is one, with the session", async () => {
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

  test("creates resources without a key as creator, and repeats a request by its Idempotency-Key only in the same session", async () => {
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

describe("a person with a group that may approve", () => {
  const approver = { mayApprove: true };

  /** An approval of a run with no invoker, unless `options` name one. */
  async function createApproval(options: StoredWait = {}) {
    const { organisation, approver: key } = await createOrganisationWithApprover(perch());
    const { approvals } = await insertWaitingRun(perch(), organisation, options);
    return { organisation, key, path: `/v1/approvals/${approvals[0]}` };
  }

  const digestOf = async (send: SendInSession, path: string) => ((await send(path)).data as { digest: string }).digest;

  test("decides, sees the call, and is named in the approval and the audit log", async () => {
    verifies("console.person-approves");
    const { organisation, path } = await createApproval();
    const ada = await signInAsPerson(organisation, "viewer", undefined, approver);
    expect((await ada("/v1/me")).data).toMatchObject({ key: { role: "viewer", permissions: ["read", "approve"] } });
    expect((await ada("/v1/console/sessions")).data).toMatchObject([
      { role: "viewer", permissions: ["read", "approve"] },
    ]);
    const by = { type: "person", key_id: null, name: "ada@example.com" };
    expect((await ada(`${path}/approve`, post({}))).data).toMatchObject({
      status: "approved",
      decided_by: by,
      approved_by: [{ by }],
      contents: { arguments: { amount: 250 } },
    });
    const { rows } = await withClient(perch().database.adminUrl, (client) =>
      client.query("select votes->0->>'voter' as voter from approvals order by created_at desc limit 1"),
    );
    expect(rows).toEqual([{ voter: `person:${issuer}#248289761001` }]);
    const [entry] = ok(await organisation.call("GET /v1/audit-log", { query: { operation: "approveApproval" } })).data;
    expect(entry).toMatchObject({ actor: "person", person: "ada@example.com (248289761001)", outcome: "changed" });
  });

  test.each(["viewer", "developer", "admin"] as const)(
    "decides; without the group, %s is refused, and shown nothing of the call",
    async (role) => {
      verifies("console.person-approves");
      const { organisation, path } = await createApproval();
      const send = await signInAsPerson(organisation, role);
      for (const [verdict, body] of [
        ["approve", {}],
        ["reject", {}],
        ["answer", { answer: "yes" }],
      ] as const)
        expect((await send(`${path}/${verdict}`, post(body))).status).toBe(403);
      expect((await send(path)).data).toMatchObject({ status: "open", contents: null });
    },
  );

  test("is one voter in all sessions, and another than a key", async () => {
    verifies("console.person-approves");
    const { organisation, key, path } = await createApproval({ calls: [{ approvers: 2 }] });
    const ada = await signInAsPerson(organisation, "viewer", undefined, approver);
    const again = await signInAsPerson(organisation, "viewer", undefined, approver);
    const body = { digest: await digestOf(ada, path) };
    expect((await ada(`${path}/approve`, post(body))).data).toMatchObject({ status: "open" });
    const repeated = (await again(`${path}/approve`, post(body))).data;
    expect(repeated).toMatchObject({ status: "open", approved_by: [{ by: { type: "person" } }] });
    const approval_id = path.split("/").at(-1) ?? "";
    const operation = "POST /v1/approvals/{approval_id}/approve" as const;
    const last = ok(await organisation.call(operation, { params: { approval_id }, body }, key)).data;
    expect(last).toMatchObject({
      status: "approved",
      approved_by: [{ by: { type: "person" } }, { by: { type: "key" } }],
    });
  });

  test("and another person are two voters", async () => {
    const { organisation, path } = await createApproval({ calls: [{ approvers: 2 }] });
    const [ada, bob] = [
      await signInAsPerson(organisation, "viewer", undefined, approver),
      await signInAsPerson(organisation, "viewer", "bob", approver),
    ];
    const body = { digest: await digestOf(ada, path) };
    expect((await ada(`${path}/approve`, post(body))).data).toMatchObject({ status: "open" });
    expect((await bob(`${path}/approve`, post(body))).data).toMatchObject({ status: "approved" });
  });

  test("is found by servers of the release before as well, which know of no such permission", async () => {
    const { organisation } = await createApproval();
    await signInAsPerson(organisation, "viewer", undefined, approver);
    const newest = "select digest from console_sessions order by created_at desc limit 1";
    const { rows } = await withClient(perch().database.adminUrl, (client) => client.query(newest));
    const find = async (name: string) =>
      (
        await sql
          .raw<object>(`select * from ${name}('\\x${rows[0].digest.toString("hex")}')`)
          .execute(perch().server.core.db.unscoped)
      ).rows;
    const [before = {}] = await find("find_session_by_digest");
    expect(before).toMatchObject({ subject: "248289761001", person_role: "viewer" });
    const [origin = {}] = await find("find_session_with_origin");
    expect(origin).toMatchObject({ ...before, person_may_approve: true });
    expect(await find("find_session_with_issuer")).toMatchObject([{ ...origin, issuer }]);
  });

  test.each([
    ["recorded with the issuer", `person:${issuer}#248289761001`],
    ["recorded by a release before, without it", "person:248289761001"],
  ])("does not decide about runs that the person started, %s", async (_, invoker) => {
    const { organisation, path } = await createApproval({ invoker });
    const ada = await signInAsPerson(organisation, "viewer", undefined, approver);
    const refused = await ada(`${path}/approve`, post({}));
    expect(refused).toMatchObject({ status: 403, error: { message: expect.stringContaining("You started this run") } });
  });

  test("decides about a run of the same subject at another issuer, who is another person", async () => {
    const { organisation, path } = await createApproval({ invoker: "person:https://other.example#248289761001" });
    const ada = await signInAsPerson(organisation, "viewer", undefined, approver);
    expect((await ada(`${path}/approve`, post({}))).status).toBe(200);
  });

  test("does not decide about the run of a key that the person made", async () => {
    const organisation = await perch().createOrganisation();
    ok(await organisation.call("POST /v1/agents", { body: agent }));
    const ada = await signInAsPerson(organisation, "admin", undefined, approver);
    const made = (await ada("/v1/keys", post({ name: "app", role: "developer" }))).data as { id: string };
    const invoker = `key:${parsePublicId("key", made.id)}`;
    const { approvals } = await insertWaitingRun(perch(), organisation, { invoker });
    const refused = await ada(`/v1/approvals/${approvals[0]}/approve`, post({}));
    expect(refused).toMatchObject({
      status: 403,
      error: { message: expect.stringContaining("made, or changed, the key that started this run") },
    });
  });

  test("does not decide if a second factor is required, because it belongs to keys", async () => {
    const { organisation, path } = await createApproval({ calls: [{ secondFactor: true }] });
    const ada = await signInAsPerson(organisation, "viewer", undefined, approver);
    const refused = await ada(`${path}/approve`, post({}));
    expect(refused.status).toBe(403);
    expect(refused.error?.message).toContain("Sign in with an API key that has one");
  });
});

describe("second factors belong to keys, so a person", () => {
  const mfa = { enabled: true, operations: ["update", "delete"] };

  test("is refused if an agent requires one, with advice", async () => {
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

  test("cannot enrol one, nor begin an enrolment if one is required: a person does not count as the operator", async () => {
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
