import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runBeginMfa } from "../../src/operator/commands/run-begin-mfa.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { enrolSecondFactor } from "../support/authenticator.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { expectRefusal, sendRawRequest } from "../support/raw-request.ts";

type Perch = Awaited<ReturnType<typeof startPerch>>;
let perch: Perch;
let strict: Perch;
beforeAll(async () => {
  perch = await startPerch();
  const { security } = perch.server.core.config;
  strict = await startPerch({ security: { ...security, mfa: { enabled: true, operations: ["delete"] } } });
});
afterAll(async () => {
  await perch.stop();
  await strict.stop();
});

const demandMfa = async ({ call }: Organisation, name = "bot") =>
  ok(
    await call("POST /v1/agents", {
      body: { name, model: "perch/echo", security: { mfa: { enabled: true, operations: ["delete"] } } },
    }),
  );

const idOf = async ({ call }: Organisation, key: string): Promise<string> =>
  ok(await call("GET /v1/me", {}, key)).data.key.id;

const post = (at: Perch, path: string, key: string, code?: string, body?: unknown) =>
  sendRawRequest(`${at.url}/v1/${path}`, {
    method: "POST",
    key,
    body,
    headers: code === undefined ? {} : { "x-mfa-code": code },
  });
const enrol = (at: Perch, key: string, token?: string) => post(at, "mfa", key, token);

interface Begun {
  readonly data: { readonly key_id: string; readonly token: string; readonly expires_at: string };
}

/** An organisation whose agent demands a second factor, with an admin key that has one and a key that has none. */
async function createOrganisationThatDemandsMfa() {
  const organisation = await perch.createOrganisation();
  const { secret } = await enrolSecondFactor(organisation);
  const stolen = await sendRawRequest(`${perch.url}/v1/keys`, {
    method: "POST",
    key: organisation.adminKey,
    body: { name: "to be stolen", role: "admin" },
    headers: { "x-mfa-code": generateTotpCode(secret) },
  }).then(({ body }) => (body as { data: { id: string; key: string } }).data);
  await demandMfa(organisation);
  const begin = async (keyId: string, code = generateTotpCode(secret, 1)) =>
    post(perch, `keys/${keyId}/begin-mfa`, organisation.adminKey, code);
  return { organisation, secret, key: stolen.key, keyId: stolen.id, begin };
}

describe("if an agent demands a second factor", () => {
  test("a key without one cannot enrol one by itself", async () => {
    const { key, keyId } = await createOrganisationThatDemandsMfa();
    const refused = await enrol(perch, key);
    expectRefusal(refused, 403);
    expect(JSON.stringify(refused.body)).toContain(`/v1/keys/${keyId}/begin-mfa`);
  });

  test("a key can enrol one with the token that an admin got for it with a code of its own", async () => {
    const { organisation, key, keyId, begin } = await createOrganisationThatDemandsMfa();
    const { status, body } = await begin(keyId);
    expect(status).toBe(201);
    const { token, expires_at, key_id } = (body as Begun).data;
    expect(key_id).toBe(keyId);
    expect(new Date(expires_at).getTime() - Date.now()).toBeGreaterThan(23.9 * 3_600_000);
    const enrolled = await enrol(perch, key, token);
    expect(enrolled.status).toBe(201);
    const { secret } = (enrolled.body as { data: { secret: string } }).data;
    const confirmed = await post(perch, "mfa/confirm", key, undefined, { code: generateTotpCode(secret) });
    expect(confirmed.status).toBe(200);
    const audit = await withClient(perch.database.adminUrl, (client) =>
      client.query("select operation, resource from audit_log where organisation_id = $1 and operation = 'beginMfa'", [
        parsePublicId("organisation", organisation.id),
      ]),
    );
    expect(audit.rows).toEqual([{ operation: "beginMfa", resource: keyId }]);
    expect((await enrol(perch, key, token)).status).toBe(409);
  });

  test("a key without a second factor cannot begin an enrolment, neither for itself nor for another key", async () => {
    const { organisation, key, keyId } = await createOrganisationThatDemandsMfa();
    const created = ok(await organisation.call("POST /v1/keys", { body: { name: "x", role: "viewer" } }, key)).data;
    for (const id of [keyId, created.id]) expectRefusal(await post(perch, `keys/${id}/begin-mfa`, key), 403);
  });

  test("beginning needs a code of the admin's own second factor", async () => {
    const { keyId, begin } = await createOrganisationThatDemandsMfa();
    for (const code of ["", "000000"]) expectRefusal(await begin(keyId, code), 401);
  });

  test.each<readonly [string, (token: string) => string]>([
    ["a changed token", (token) => `${token.slice(0, -2)}AA`],
    ["a token as a step-up token", (token) => token.replace(/^enrol_/, "mfa_")],
    ["a token without its tag", (token) => token.split(".")[0] ?? ""],
    ["a token with more parts", (token) => `${token}.x`],
    ["an empty token", () => "enrol_"],
  ])("403 for %s", async (_, change) => {
    const { key, keyId, begin } = await createOrganisationThatDemandsMfa();
    const { token } = ((await begin(keyId)).body as Begun).data;
    expectRefusal(await enrol(perch, key, change(token)), 403);
  });

  test("a token works for its own key only, and is not a code", async () => {
    const { organisation, key, keyId, begin } = await createOrganisationThatDemandsMfa();
    const { token } = ((await begin(keyId)).body as Begun).data;
    const other = ok(await organisation.call("POST /v1/keys", { body: { name: "x", role: "admin" } }, key)).data.key;
    expectRefusal(await enrol(perch, other, token), 403);
    const remove = { method: "DELETE", key, headers: { "x-mfa-code": token } };
    expectRefusal(await sendRawRequest(`${perch.url}/v1/agents/bot`, remove), 401);
  });

  test("a key that reaches only other agents can still enrol one by itself", async () => {
    const organisation = await perch.createOrganisation();
    await demandMfa(organisation);
    ok(await organisation.call("POST /v1/agents", { body: { name: "free", model: "perch/echo" } }));
    expect((await enrol(perch, await organisation.createKey({ role: "viewer", agent_id: "free" }))).status).toBe(201);
    expectRefusal(await enrol(perch, await organisation.createKey({ role: "viewer", agent_id: "bot" })), 403);
  });

  test("404 for a key of another organisation, 409 for one that is revoked or has a second factor", async () => {
    const { organisation, secret, keyId, begin } = await createOrganisationThatDemandsMfa();
    const body = { code: generateTotpCode(secret, 1) };
    const { token } = ok(await organisation.call("POST /v1/mfa/step-up", { body })).data;
    const other = await perch.createOrganisation();
    expect((await begin(await idOf(other, other.adminKey), token)).status).toBe(404);
    expect((await begin(await idOf(organisation, organisation.adminKey), token)).status).toBe(409);
    const revoke = { method: "DELETE", key: organisation.adminKey, headers: { "x-mfa-code": token } };
    expect((await sendRawRequest(`${perch.url}/v1/keys/${keyId}`, revoke)).status).toBe(200);
    expect((await begin(keyId, token)).status).toBe(409);
  });
});

describe("if the instance demands a second factor", () => {
  test("no key enrols one by itself, and the operator can begin it for the first admin key", async () => {
    const organisation = await strict.createOrganisation();
    const { adminKey } = organisation;
    expectRefusal(await enrol(strict, adminKey), 403);
    const keyId = await idOf(organisation, adminKey);
    expectRefusal(await post(strict, `keys/${keyId}/begin-mfa`, adminKey), 403);
    const { config, logger } = strict.server.core;
    const printed = vi.spyOn(console, "log").mockImplementation(() => {});
    const explained = vi.spyOn(console, "error").mockImplementation(() => {});
    await runBeginMfa(config, logger, ["--organisation", organisation.id, "--key", keyId]);
    const token = String(printed.mock.lastCall?.[0]);
    printed.mockRestore();
    explained.mockRestore();
    expect((await enrol(strict, adminKey, token)).status).toBe(201);
  });
});

test("if no settings demand a second factor, a key enrols one by itself", async () => {
  const organisation = await perch.createOrganisation();
  expect((await enrol(perch, organisation.adminKey)).status).toBe(201);
});
