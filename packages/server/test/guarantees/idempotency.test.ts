import { isRepeatable, type OperationKey, operationKeys, operations } from "@perch/contract";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildRequest, ok } from "../support/contract-client.ts";
import { type ApiNode, startPerch } from "../support/harness.ts";
import { createOrganisationWithSample } from "../support/operation-samples.ts";
import { connectionConfig } from "../support/sample-connections.ts";

let perch: Awaited<ReturnType<typeof startPerch>>;
let other: ApiNode;
beforeAll(async () => {
  const config = { ...connectionConfig, valkeyUrl: serviceUrl("PERCH_VALKEY_URL") };
  perch = await startPerch(config, { withWorker: true });
  other = await perch.addApiNode();
});
afterAll(() => perch.stop());

const repeatableKeys = operationKeys.filter(isRepeatable);
async function send(node: { url: string }, apiKey: string, key: OperationKey, parts: object, idempotencyKey: string) {
  const { path, init } = buildRequest(key, parts);
  const headers = { ...(init.headers as object), authorization: `Bearer ${apiKey}`, "idempotency-key": idempotencyKey };
  const response = await fetch(node.url + path, { ...init, headers });
  return {
    status: response.status,
    text: await response.text(),
    replayed: response.headers.get("idempotent-replayed"),
  };
}

test("every POST and PATCH can be repeated, except a search, a check, signing in and the report of a leaked key", () => {
  verifies("idempotency.operations");
  expect(repeatableKeys.length).toBeGreaterThanOrEqual(16);
  const unseen = operationKeys.filter((key) => /^(POST|PATCH)/.test(key) && !repeatableKeys.includes(key));
  expect(unseen.sort()).toEqual([
    "POST /v1/agents/{agent_id}/check",
    "POST /v1/agents/{agent_id}/memory/search",
    "POST /v1/console/sessions",
    "POST /v1/keys/revoke-leaked",
  ]);
});

const isShownOnce = (key: OperationKey): boolean => "shownOnce" in operations[key];
const keptKeys = repeatableKeys.filter((key) => !isShownOnce(key));
const shownOnceKeys = repeatableKeys.filter(isShownOnce);

describe.each(shownOnceKeys)("%s", (key) => {
  test("a repeated request is 409 and names the next step, because its answer would give away a second factor or a session", async () => {
    const { organisation, first } = await createOrganisationWithSample(perch, key);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => send(i % 2 ? other : perch, organisation.adminKey, key, first, "retry-1")),
    );
    expect(answers.filter(({ status }) => status === operations[key].status)).toHaveLength(1);
    const repeats = answers.filter(({ replayed }) => replayed === "true");
    expect(repeats).toHaveLength(7);
    for (const { status, text } of repeats) {
      expect(status).toBe(409);
      expect(JSON.parse(text)).toMatchObject({ success: false, error: { code: "conflict" } });
      expect(JSON.parse(text).error.message).toContain("with a new Idempotency-Key");
    }
  });
});

test("every answer that signs a browser in, or proves or enrols a second factor, is shown once", () => {
  expect([...shownOnceKeys].sort()).toEqual([
    "POST /v1/console/links",
    "POST /v1/keys/{key_id}/begin-mfa",
    "POST /v1/mfa",
    "POST /v1/mfa/step-up",
  ]);
});

describe.each(keptKeys)("%s", (key) => {
  test("a repeated request gets the status and bytes of the first on any node, marked as a replay", async () => {
    verifies("idempotency.header", "idempotency.replay", "idempotency.operations");
    const { organisation, first } = await createOrganisationWithSample(perch, key);
    const original = await send(perch, organisation.adminKey, key, first, "retry-1");
    expect(original).toMatchObject({
      status: operations[key].status,
      replayed: null,
    });
    for (const node of [perch, other]) {
      expect(await send(node, organisation.adminKey, key, first, "retry-1")).toEqual({ ...original, replayed: "true" });
    }
  });

  test("409 for another body, if the operation has one", async () => {
    verifies("errors.code.reused-idempotency-key");
    const { organisation, first, otherBody } = await createOrganisationWithSample(perch, key);
    const original = await send(perch, organisation.adminKey, key, first, "retry-1");
    if (Object.keys(otherBody).length === 0) return expect(original.status).toBeLessThan(300);
    const { status, text } = await send(other, organisation.adminKey, key, { ...first, body: otherBody }, "retry-1");
    expect(status).toBe(409);
    expect(JSON.parse(text)).toMatchObject({ success: false, error: { code: "conflict" } });
    const again = await send(perch, organisation.adminKey, key, first, "retry-1");
    expect(again).toEqual({ ...original, replayed: "true" });
  });

  test("eight concurrent requests on two nodes have one effect and get equal responses", async () => {
    verifies("idempotency.in-flight");
    const { organisation, first } = await createOrganisationWithSample(perch, key);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => send(i % 2 ? other : perch, organisation.adminKey, key, first, "retry-1")),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
  });
});

describe("an operation that does not honour the Idempotency-Key", () => {
  test("a search is answered afresh", async () => {
    verifies("idempotency.operations");
    const key = "POST /v1/agents/{agent_id}/memory/search";
    const { organisation } = await createOrganisationWithSample(perch, key);
    const params = { agent_id: "bot" };
    const search = () => send(perch, organisation.adminKey, key, { params, body: { query: "tea", mode: "text" } }, "k");
    const before = await search();
    ok(await organisation.call("POST /v1/agents/{agent_id}/memory", { params, body: { content: "Ada likes tea." } }));
    const after = await search();
    expect([before, after]).toMatchObject(Array(2).fill({ status: 200, replayed: null }));
    expect([before, after].map(({ text }) => JSON.parse(text).pagination.total)).toEqual([0, 1]);
  });

  test("a repeated report of a leaked key gets the same answer by itself", async () => {
    verifies("idempotency.operations");
    const { adminKey, createKey } = await perch.createOrganisation();
    const body = { key: await createKey({ role: "viewer" }) };
    const report = () => send(perch, adminKey, "POST /v1/keys/revoke-leaked", { body }, "k");
    const first = await report();
    expect(first).toMatchObject({ status: 200, replayed: null });
    expect(await report()).toEqual(first);
  });
});

describe("the Idempotency-Key", () => {
  const create = (name: string) => ({ body: { name, model: "perch/echo" } });

  test("applies to one method and path: on another it is a new key", async () => {
    verifies("idempotency.scope");
    const { organisation } = await createOrganisationWithSample(perch, "POST /v1/agents");
    const { adminKey } = organisation;
    expect((await send(perch, adminKey, "POST /v1/agents", create("a"), "k")).status).toBe(201);
    expect(
      await send(perch, adminKey, "POST /v1/agents/{agent_id}/pause", { params: { agent_id: "a" } }, "k"),
    ).toMatchObject({ status: 200, replayed: null });
    const otherOrganisation = await perch.createOrganisation();
    expect(await send(perch, otherOrganisation.adminKey, "POST /v1/agents", create("a"), "k")).toMatchObject({
      status: 201,
      replayed: null,
    });
  });

  test("replays its response only to the API key that made the request, because it may contain a secret", async () => {
    verifies("idempotency.scope");
    const { organisation, first } = await createOrganisationWithSample(perch, "POST /v1/keys");
    const second = await organisation.createKey({ role: "admin" });
    expect((await send(perch, organisation.adminKey, "POST /v1/keys", first, "k")).status).toBe(201);
    expect((await send(perch, second, "POST /v1/keys", first, "k")).status).toBe(409);
  });

  test("can be used again after an error", async () => {
    verifies("idempotency.failures-not-kept");
    const { organisation } = await createOrganisationWithSample(perch, "POST /v1/agents");
    const pause = (agent_id: string) =>
      send(perch, organisation.adminKey, "POST /v1/agents/{agent_id}/pause", { params: { agent_id } }, "k");
    expect((await pause("later")).status).toBe(404);
    expect((await send(perch, organisation.adminKey, "POST /v1/agents", create("later"), "x")).status).toBe(201);
    expect(await pause("later")).toMatchObject({ status: 200, replayed: null });
  });

  test("treats bodies with fields in another order as equal", async () => {
    const { organisation } = await createOrganisationWithSample(perch, "POST /v1/agents");
    const one = await send(
      perch,
      organisation.adminKey,
      "POST /v1/agents",
      { body: { name: "o", model: "perch/echo" } },
      "k",
    );
    const two = await send(
      perch,
      organisation.adminKey,
      "POST /v1/agents",
      { body: { model: "perch/echo", name: "o" } },
      "k",
    );
    expect(two).toEqual({ ...one, replayed: "true" });
  });

  test.each(["", "with space", "x".repeat(256)])("400 for %j", async (key) => {
    const { adminKey } = await perch.createOrganisation();
    const { status, text } = await send(perch, adminKey, "POST /v1/agents", create("a"), key);
    expect(status).toBe(400);
    expect(JSON.parse(text).error.details[0].field).toBe("Idempotency-Key");
  });

  test("expires after 24 hours", async () => {
    verifies("idempotency.valid-24-hours");
    const { organisation, first } = await createOrganisationWithSample(perch, "PATCH /v1/agents/{agent_id}");
    const patch = () => send(perch, organisation.adminKey, "PATCH /v1/agents/{agent_id}", first, "old");
    await patch();
    const age = (interval: string) =>
      withClient(perch.database.adminUrl, (client) =>
        client.query(`update idempotent_answers set created_at = created_at - interval '${interval}'`),
      );
    await age("23 hours 59 minutes");
    expect((await patch()).replayed).toBe("true");
    await age("2 minutes");
    expect((await patch()).replayed).toBeNull();
  });

  test("has its stored response encrypted", async () => {
    const { organisation, first } = await createOrganisationWithSample(perch, "POST /v1/keys");
    const { text } = await send(perch, organisation.adminKey, "POST /v1/keys", first, "secret");
    const { rows } = await withClient(perch.database.adminUrl, (client) =>
      client.query<{ body: Buffer }>("select body from idempotent_answers"),
    );
    expect(rows.length).toBeGreaterThan(0);
    const token = JSON.parse(text).data.key as string;
    for (const { body } of rows) {
      expect(body.includes(token)).toBe(false);
      expect(body.includes("success")).toBe(false);
    }
  });
});
