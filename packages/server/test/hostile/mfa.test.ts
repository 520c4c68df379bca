import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogger } from "../../src/platform/logger.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { type EnrolledFactor, enrolSecondFactor } from "../support/authenticator.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, startApi, startPerch } from "../support/harness.ts";
import { expectRefusal, sendRawRequest } from "../support/raw-request.ts";

let perch: Awaited<ReturnType<typeof startPerch>>;
beforeAll(async () => {
  perch = await startPerch();
});
afterAll(() => perch.stop());

const mfa = (...operations: ("delete" | "update")[]) => ({ mfa: { enabled: true, operations } });

const createMfaAgent = async ({ call }: Organisation, ...operations: ("delete" | "update")[]) => {
  const body = { name: "bot", model: "perch/echo", security: mfa(...operations) };
  ok(await call("POST /v1/agents", { body }));
};

const request = (
  { adminKey }: Organisation,
  code: string | undefined,
  { method = "DELETE", path = "/v1/agents/bot", key = adminKey, body = undefined as unknown } = {},
) => sendRawRequest(perch.url + path, { method, key, body, headers: code === undefined ? {} : { "x-mfa-code": code } });

const update = (organisation: Organisation, code: string | undefined, body: object = { temperature: 1 }) =>
  request(organisation, code, { method: "PATCH", body });

/** The key enrols before the agent demands a second factor: later it could not by itself. */
const createOrganisationWithFactor = async (...operations: ("delete" | "update")[]) => {
  const organisation = await perch.createOrganisation();
  const factor = await enrolSecondFactor(organisation);
  await createMfaAgent(organisation, ...operations);
  return { organisation, factor };
};

const stepUp = async ({ call }: Organisation, { secret, key }: EnrolledFactor) =>
  ok(await call("POST /v1/mfa/step-up", { body: { code: generateTotpCode(secret) } }, key)).data.token;

const tampered = (token: string, change: (claims: [string, number]) => unknown) => {
  const [body = "", tag] = token.slice(4).split(".");
  const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as [string, number];
  return `mfa_${Buffer.from(JSON.stringify(change(claims))).toString("base64url")}.${tag}`;
};

describe("multi-factor", () => {
  test("only the operations that the settings name need a code", async () => {
    verifies("security.mfa-enforced");
    const { organisation, factor } = await createOrganisationWithFactor("delete");
    expect((await update(organisation, undefined)).status).toBe(200);
    expectRefusal(await request(organisation, undefined), 401);
    expect((await request(organisation, generateTotpCode(factor.secret))).status).toBe(200);
  });

  test("`update` covers every change to the agent's resources", async () => {
    verifies("security.mfa-enforced");
    const { organisation } = await createOrganisationWithFactor("update");
    expectRefusal(await update(organisation, undefined), 401);
    for (const path of ["/pause", "/resume", "/deployments"]) {
      expectRefusal(await request(organisation, undefined, { method: "POST", path: `/v1/agents/bot${path}` }), 401);
    }
    expect((await request(organisation, undefined, { method: "GET" })).status).toBe(200);
    expect((await request(organisation, undefined)).status).toBe(200);
  });

  test("a code is accepted once: a replay is 401, also a concurrent one", async () => {
    verifies("security.mfa-lock-out");
    const { organisation, factor } = await createOrganisationWithFactor("update");
    const code = generateTotpCode(factor.secret);
    const statuses = await Promise.all(
      Array.from({ length: 4 }, async () => (await update(organisation, code)).status),
    );
    expect(statuses.sort()).toEqual([200, 401, 401, 401]);
    expectRefusal(await update(organisation, code), 401);
  });

  test("401 for a code older than one already used", async () => {
    const { organisation, factor } = await createOrganisationWithFactor("update");
    expect((await update(organisation, generateTotpCode(factor.secret, 1))).status).toBe(200);
    expectRefusal(await update(organisation, generateTotpCode(factor.secret)), 401);
  });

  test.each<readonly [string, (factor: EnrolledFactor) => string | undefined]>([
    ["no code", () => undefined],
    ["a code of two periods ago", ({ secret }) => generateTotpCode(secret, -3)],
    ["a code of two periods ahead", ({ secret }) => generateTotpCode(secret, 3)],
    ["five digits", ({ secret }) => generateTotpCode(secret).slice(1)],
    ["seven digits", ({ secret }) => `0${generateTotpCode(secret)}`],
    ["a code with a space", ({ secret }) => generateTotpCode(secret).replace(/^(...)/, "$1 ")],
    ["letters", () => "abcdef"],
    ["digits of another script", () => encodeURIComponent("١٢٣٤٥٦")],
    ["a negative number", () => "-12345"],
    ["the secret", ({ secret }) => secret],
    ["the key", ({ key }) => key],
    ["SQL", () => "' or '1'='1"],
    ["a recovery code that was never given", () => "aaaa-bbbb-cccc"],
    ["all recovery codes at once", ({ recoveryCodes }) => recoveryCodes.join(",")],
    ["an empty step-up token", () => "mfa_"],
    ["a step-up token without a tag", () => "mfa_W10"],
    ["a step-up token that is not JSON", () => "mfa_eA.eA"],
    ["a step-up token with more parts", () => "mfa_a.b.c"],
    ["4,000 characters", () => "1".repeat(4000)],
  ])("401 for %s", async (_, code) => {
    const { organisation, factor } = await createOrganisationWithFactor("delete");
    expectRefusal(await request(organisation, code(factor)), 401);
  });

  test("401 for a key without a second factor, or with an unconfirmed one", async () => {
    const organisation = await perch.createOrganisation();
    const { secret } = ok(await organisation.call("POST /v1/mfa", {})).data;
    await createMfaAgent(organisation, "delete");
    expectRefusal(await request(organisation, generateTotpCode(secret)), 401);
    const key = await organisation.createKey({ role: "admin" });
    expectRefusal(await request(organisation, "123456", { key }), 401);
  });

  test("401 for a code from the factor of another key", async () => {
    const { organisation } = await createOrganisationWithFactor("delete");
    const otherOrganisation = await perch.createOrganisation();
    const { secret } = await enrolSecondFactor(otherOrganisation);
    expectRefusal(await request(organisation, generateTotpCode(secret)), 401);
  });

  test("five wrong codes lock the factor for 15 minutes: until then the right code is 401 too", async () => {
    verifies("security.mfa-lock-out");
    const { organisation, factor } = await createOrganisationWithFactor("update");
    const [recovery, ...unused] = factor.recoveryCodes;
    const sendWrongCodes = async (count: number) => {
      for (let i = 0; i < count; i += 1) expectRefusal(await update(organisation, "000000"), 401);
    };
    const passTime = (interval: string) =>
      withClient(perch.database.adminUrl, (client) =>
        client.query(`update key_factors set locked_until = locked_until - interval '${interval}'`),
      );
    await sendWrongCodes(4);
    expect((await update(organisation, recovery)).status).toBe(200);
    await sendWrongCodes(5);
    for (const code of [generateTotpCode(factor.secret), unused[0]])
      expectRefusal(await update(organisation, code), 401);
    await passTime("14 minutes 30 seconds");
    expectRefusal(await update(organisation, generateTotpCode(factor.secret)), 401);
    await passTime("30 seconds");
    expect((await update(organisation, generateTotpCode(factor.secret))).status).toBe(200);
  });

  test.each(["header", "body"] as const)(
    "at most five of 60 concurrent guesses in the %s are judged",
    async (where) => {
      verifies("security.mfa-lock-out");
      const { organisation, factor } = await createOrganisationWithFactor("update");
      const guess = async (): Promise<string> => {
        const { body } =
          where === "header"
            ? await update(organisation, "000000")
            : await request(organisation, undefined, {
                method: "POST",
                path: "/v1/mfa/step-up",
                body: { code: "000000" },
              });
        return (body as { error: { message: string } }).error.message;
      };
      const messages = await Promise.all(Array.from({ length: 60 }, guess));
      const judged = messages.filter((message) => message.startsWith("This code is wrong"));
      expect(judged.length).toBeGreaterThan(0);
      expect(judged.length).toBeLessThanOrEqual(5);
      expect(messages.filter((message) => message.startsWith("Too many wrong codes"))).toHaveLength(60 - judged.length);
      expectRefusal(await update(organisation, generateTotpCode(factor.secret)), 401);
    },
  );

  test("a right code that is refused for another reason does not count towards the lock", async () => {
    const { organisation, factor } = await createOrganisationWithFactor("update");
    const confirm = () =>
      organisation.call("POST /v1/mfa/confirm", { body: { code: generateTotpCode(factor.secret) } });
    for (let i = 0; i < 6; i += 1) expect((await confirm()).status).toBe(409);
    expect((await update(organisation, generateTotpCode(factor.secret))).status).toBe(200);
  });

  test("wrong codes count towards the lock on every operation", async () => {
    const { organisation, factor } = await createOrganisationWithFactor("delete");
    for (const path of ["step-up", "remove", "step-up", "remove", "step-up"] as const) {
      expect((await organisation.call(`POST /v1/mfa/${path}`, { body: { code: "000000" } })).status).toBe(401);
    }
    expectRefusal(await request(organisation, generateTotpCode(factor.secret)), 401);
  });

  test("a recovery code replaces a code of the device, once", async () => {
    verifies("security.mfa-recovery-codes");
    const { organisation, factor } = await createOrganisationWithFactor("update");
    const [first, second] = factor.recoveryCodes;
    expect(factor.recoveryCodes).toHaveLength(10);
    expect((await update(organisation, first)).status).toBe(200);
    expectRefusal(await update(organisation, first), 401);
    expect((await update(organisation, second)).status).toBe(200);
  });

  test("a step-up token can be used repeatedly, only with its key, until it expires", async () => {
    verifies("security.mfa-step-up");
    const { organisation, factor } = await createOrganisationWithFactor("update");
    const token = await stepUp(organisation, factor);
    for (const _ of [1, 2, 3]) expect((await update(organisation, token)).status).toBe(200);
    expectRefusal(
      await update(
        organisation,
        tampered(token, ([key, until]) => [key, until + 1]),
      ),
      401,
    );
    expectRefusal(
      await update(
        organisation,
        tampered(token, () => null),
      ),
      401,
    );
    const key = ok(
      await organisation.call("POST /v1/keys", { body: { name: "x", role: "viewer" } }).then(async (refused) => {
        expect(refused.status).toBe(401);
        const made = await request(organisation, token, {
          method: "POST",
          path: "/v1/keys",
          body: { name: "other", role: "admin" },
        });
        return made as never;
      }),
    ) as { data: { key: string } };
    expectRefusal(await request(organisation, token, { method: "PATCH", key: key.data.key, body: {} }), 401);
  });

  test("a step-up token is accepted for ten minutes", async () => {
    verifies("security.mfa-step-up");
    const { organisation, factor } = await createOrganisationWithFactor("update");
    const token = await stepUp(organisation, factor);
    const silent = createLogger("silent");
    for (const [minutes, status] of [
      [9.5, 200],
      [10, 401],
    ] as const) {
      const node = await startApi(perch.server.core.config, silent, () => Date.now() + minutes * 60_000);
      const url = await node.app.listen({ host: "127.0.0.1", port: 0 });
      const answer = await fetch(`${url}/v1/agents/bot`, {
        method: "PATCH",
        body: '{"temperature":1}',
        headers: {
          authorization: `Bearer ${organisation.adminKey}`,
          "content-type": "application/json",
          "x-mfa-code": token,
        },
      });
      expect(answer.status).toBe(status);
      await shutDown(node.shutdownSteps, silent);
    }
  });

  test("MFA cannot be turned off without a code: security settings, new keys and the factor itself need one", async () => {
    const { organisation, factor } = await createOrganisationWithFactor("delete");
    expectRefusal(await update(organisation, undefined, { security: { mfa: null } }), 401);
    expectRefusal(await update(organisation, undefined, { security: null }), 401);
    expectRefusal(await update(organisation, undefined, { auth: null }), 401);
    const body = { name: "mine", role: "admin" };
    expectRefusal(await request(organisation, undefined, { method: "POST", path: "/v1/keys", body }), 401);
    expect((await organisation.call("POST /v1/mfa", {})).status).toBe(409);
    expect((await update(organisation, generateTotpCode(factor.secret), { security: { mfa: null } })).status).toBe(200);
    expect((await request(organisation, undefined)).status).toBe(200);
  });

  test("an owner of the key who repeats the enrolment with its Idempotency-Key does not get the second factor", async () => {
    const { adminKey } = await perch.createOrganisation();
    const enrol = () =>
      sendRawRequest(`${perch.url}/v1/mfa`, { method: "POST", key: adminKey, headers: { "idempotency-key": "k" } });
    const { status, body } = await enrol();
    expect(status).toBe(201);
    const { secret, recovery_codes } = (body as { data: { secret: string; recovery_codes: string[] } }).data;
    const repeated = await enrol();
    expect(repeated.status).toBe(409);
    for (const word of [secret, ...recovery_codes]) expect(JSON.stringify(repeated.body)).not.toContain(word);
  });

  test("no row contains the secret or a recovery code in plain text", async () => {
    const organisation = await perch.createOrganisation();
    const { secret, recoveryCodes } = await enrolSecondFactor(organisation);
    const { rows } = await withClient(perch.database.adminUrl, (client) =>
      client.query(
        "select f::text, encode(secret, 'escape') as s from key_factors f union all select a::text, '' from audit_log a",
      ),
    );
    const text = JSON.stringify(rows);
    for (const word of [secret, ...recoveryCodes]) expect(text).not.toContain(word);
  });
});
