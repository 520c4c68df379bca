import { createHmac } from "node:crypto";
import { agentSourceOf, type Operation, type OperationKey, operationKeys, operations } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { buildRequest, ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";

const perch = usePerch();

const secret = "a secret that has 32 bytes or more";
const auth = { type: "jwt" as const, secret };
const read: OperationKey = "GET /v1/agents/{agent_id}";
const update: OperationKey = "PATCH /v1/agents/{agent_id}";
const params = { agent_id: "vault" };

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
function signToken(key = secret): string {
  const seconds = Math.floor(Date.now() / 1000);
  const body = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ user_id: "user-1", iat: seconds, exp: seconds + 600 })}`;
  return `${body}.${createHmac("sha256", key).update(body).digest("base64url")}`;
}

async function send(key: OperationKey, apiKey: string, body?: unknown, token?: string) {
  const { path, init } = buildRequest(key, { params, body });
  const response = await fetch(perch().url + path, {
    ...init,
    headers: {
      ...(init.headers as object),
      authorization: `Bearer ${apiKey}`,
      ...(token !== undefined && { "x-user-token": token }),
    },
  });
  return { status: response.status, body: (await response.json()) as { data: { warnings?: string[]; auth: unknown } } };
}

/** An agent whose `auth` was set by the organisation's first key a moment ago. */
async function createLocked() {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "vault", model: "perch/echo" } }));
  const other = await organisation.createKey({ role: "admin" });
  const set = await send(update, organisation.adminKey, { auth });
  expect(set.status).toBe(200);
  return { organisation, author: organisation.adminKey, other, warnings: set.body.data.warnings };
}

const queryDatabase = (statement: string) => withClient(perch().database.adminUrl, (client) => client.query(statement));

const listReasons = async ({ call }: Organisation) =>
  ok(await call("GET /v1/audit-log", { query: { limit: 100 } })).data.map(({ details }) => details.reason);

describe("a caller that sets `auth` and has no token", () => {
  test("learns from the answer what is refused from now on and until when it can undo it, and can undo it", async () => {
    verifies("security.grace-period");
    const { organisation, author, warnings } = await createLocked();
    expect(warnings).toEqual([
      expect.stringMatching(/X-User-Token.*Until \d{4}-.*Z, the key key_\w+ can read and update/),
    ]);
    expect((await send(read, author)).body.data.auth).toMatchObject({ type: "jwt" });
    expect((await send(update, author, { auth: null })).status).toBe(200);
    expect((await send("GET /v1/agents/{agent_id}/logs", author)).status).toBe(200);
    expect(await listReasons(organisation)).toContain("Without a user's token: this key set `auth` within the hour.");
  });

  test("learns the same from the answer that creates an agent with `auth`", async () => {
    verifies("security.grace-period");
    const { call, adminKey } = await perch().createOrganisation();
    const created = ok(await call("POST /v1/agents", { body: { name: "vault", model: "perch/echo", auth } })).data;
    expect(created.warnings).toHaveLength(1);
    expect((await send(read, adminKey)).status).toBe(200);
  });

  test("gets to nothing else of the agent: not to its runs, logs, memory or secrets, and cannot delete it", async () => {
    verifies("security.grace-period");
    const { author } = await createLocked();
    const others = operationKeys.filter(
      (key) => agentSourceOf(operations[key] as Operation) === "path" && key !== read && key !== update,
    );
    expect(others.length).toBeGreaterThan(25);
    const admitted: string[] = [];
    for (const key of others) if ((await send(key, author)).status !== 401) admitted.push(key);
    expect(admitted).toEqual([]);
  });

  test("is refused with a token that is not valid: a token that is sent is always judged", async () => {
    const { author } = await createLocked();
    expect((await send(read, author, undefined, signToken("another secret of 32 bytes or more"))).status).toBe(401);
    expect((await send(read, author, undefined, signToken())).status).toBe(200);
  });

  test("is refused when the hour is over, also if it set `auth` again meanwhile", async () => {
    verifies("security.grace-period");
    const { author } = await createLocked();
    const end = async () => (await queryDatabase("select max(auth_way_back_until) as at from agents")).rows[0].at;
    const before: Date = await end();
    expect((await send(update, author, { auth })).status).toBe(200);
    expect(await end()).toEqual(before);
    expect(before.getTime() - Date.now()).toBeLessThanOrEqual(3_600_000);
    await queryDatabase("update agents set auth_way_back_until = now()");
    // The node may know the agent as it was for a moment more.
    await expect.poll(async () => (await send(read, author)).status, { timeout: 30_000 }).toBe(401);
    expect((await send(update, author, { auth: null })).status).toBe(401);
    expect((await send(read, author, undefined, signToken())).status).toBe(200);
  });
});

describe("another key", () => {
  test("gets nothing without a token, though it may do as much", async () => {
    verifies("security.grace-period");
    const { other } = await createLocked();
    expect((await send(read, other)).status).toBe(401);
    expect((await send(update, other, { auth: null })).status).toBe(401);
  });

  test("that changes `auth`, with a token, ends the grace period and gets none, because without a token the key could do nothing before", async () => {
    verifies("security.grace-period");
    const { author, other } = await createLocked();
    const changed = await send(update, other, { auth }, signToken());
    expect(changed.status).toBe(200);
    expect(changed.body.data.warnings).toEqual([expect.stringContaining("needs such a token")]);
    for (const key of [author, other]) {
      expect((await send(read, key)).status).toBe(401);
      expect((await send(update, key, { auth: null })).status).toBe(401);
    }
    expect((await send(update, other, { auth: null }, signToken())).status).toBe(200);
  });
});
