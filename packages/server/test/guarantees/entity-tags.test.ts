import { type Operation, type OperationKey, operationKeys, operations } from "@perch/contract";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import type { Client } from "pg";
import { describe, expect, test } from "vitest";
import { buildRequest, ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createOrganisationWithSample } from "../support/operation-samples.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") });

type Parts = Parameters<typeof buildRequest>[1];

async function send(
  { adminKey }: Pick<Organisation, "adminKey">,
  key: OperationKey,
  parts: Parts,
  headers: Record<string, string> = {},
  { url }: { readonly url: string } = perch(),
) {
  const { path, init } = buildRequest(key, parts);
  const response = await fetch(url + path, {
    ...init,
    headers: { ...(init.headers as object), authorization: `Bearer ${adminKey}`, ...headers },
  });
  const body = (await response.json()) as { data: Record<string, unknown>; error?: { code: string; message: string } };
  return { status: response.status, etag: response.headers.get("etag"), headers: response.headers, body };
}

const readOperation = (key: OperationKey): OperationKey =>
  key.includes("/agents/")
    ? "GET /v1/agents/{agent_id}"
    : key.includes("/webhooks/")
      ? "GET /v1/webhooks/{webhook_id}"
      : "GET /v1/keys/{key_id}";

const withFlag = (flag: "etag" | "ifMatch"): OperationKey[] =>
  operationKeys.filter((key) => (operations[key] as Operation)[flag]);

const strongTag = /^"[\x21\x23-\x7e]+"$/;

async function createOrganisationWithBot() {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  const params = { agent_id: "bot" };
  const read = () => send(organisation, "GET /v1/agents/{agent_id}", { params });
  const update = (body: object, headers: Record<string, string> = {}, node = perch() as { url: string }) =>
    send(organisation, "PATCH /v1/agents/{agent_id}", { params, body }, headers, node);
  return { organisation, read, update };
}

/** Another connection watches, because a transaction's own view of waiting sessions does not change. */
const withTwoClients = <T>(work: (holder: Client, watcher: Client) => Promise<T>): Promise<T> =>
  withClient(perch().database.adminUrl, (holder) =>
    withClient(perch().database.adminUrl, (watcher) => work(holder, watcher)),
  );

test("agents, webhooks and keys have tags, and their changes take them", () => {
  verifies("changes.if-match");
  expect(withFlag("etag")).toHaveLength(13);
  expect(withFlag("ifMatch")).toHaveLength(10);
});

describe.each(withFlag("ifMatch"))("%s", (key) => {
  test("412 with the tag of another state, which changes nothing; with the right one it is done", async () => {
    verifies("changes.if-match", "changes.etag");
    const { organisation, first } = await createOrganisationWithSample(perch(), key);
    const { params } = first as Parts;
    const readParts = { params: params ?? {} };
    const before = await send(organisation, readOperation(key), readParts);
    expect(before.etag).toMatch(strongTag);
    const refused = await send(organisation, key, first, { "if-match": '"another"' });
    expect(refused).toMatchObject({ status: 412, body: { error: { code: "precondition_failed" } } });
    expect(refused.body.error?.message).toMatch(/Read it again/);
    expect(await send(organisation, readOperation(key), readParts)).toMatchObject({
      etag: before.etag,
      body: before.body,
    });
    const done = await send(organisation, key, first, { "if-match": `"another", ${before.etag}` });
    expect(done.status).toBe(operations[key].status);
    if ("etag" in operations[key]) expect(done.etag).toMatch(strongTag);
  });
});

describe("ETag", () => {
  test("the answer of a creation or a change has the same tag as reading the resource", async () => {
    verifies("changes.etag");
    const organisation = await perch().createOrganisation();
    const bodies: readonly [OperationKey, OperationKey, string, object, object][] = [
      [
        "POST /v1/agents",
        "PATCH /v1/agents/{agent_id}",
        "agent_id",
        { name: "a", model: "perch/echo" },
        { temperature: 1 },
      ],
      [
        "POST /v1/webhooks",
        "PATCH /v1/webhooks/{webhook_id}",
        "webhook_id",
        { url: "https://hooks.example/", events: ["agent.failed"] },
        { enabled: false },
      ],
      ["POST /v1/keys", "PATCH /v1/keys/{key_id}", "key_id", { name: "k", role: "viewer" }, { name: "l" }],
    ];
    for (const [create, change, id, body, patch] of bodies) {
      const created = await send(organisation, create, { body });
      const params = { [id]: String(created.body.data.id) };
      const read = () => send(organisation, readOperation(change), { params });
      expect((await read()).etag).toBe(created.etag);
      const changed = await send(organisation, change, { params, body: patch });
      expect(changed.etag).not.toBe(created.etag);
      expect((await read()).etag).toBe(changed.etag);
    }
  });

  test("a key's tag stays the same when the key is used", async () => {
    verifies("changes.etag");
    const organisation = await perch().createOrganisation();
    const { id, key } = ok(await organisation.call("POST /v1/keys", { body: { name: "k", role: "viewer" } })).data;
    const read = () => send(organisation, "GET /v1/keys/{key_id}", { params: { key_id: id } });
    const before = await read();
    ok(await organisation.call("GET /v1/me", {}, key));
    await expect.poll(async () => (await read()).body.data.last_used_at, { timeout: 20_000 }).not.toBeNull();
    expect((await read()).etag).toBe(before.etag);
  });

  test("a change that no answer shows changes the tag: a webhook's secret", async () => {
    verifies("changes.etag");
    const organisation = await perch().createOrganisation();
    const body = { url: "https://hooks.example/", events: ["agent.failed"] };
    const created = await send(organisation, "POST /v1/webhooks", { body });
    const params = { webhook_id: String(created.body.data.id) };
    const rotate = () =>
      send(
        organisation,
        "POST /v1/webhooks/{webhook_id}/rotate",
        { params, body: { overlap_seconds: 0 } },
        { "if-match": created.etag ?? "" },
      );
    expect((await rotate()).status).toBe(201);
    expect((await rotate()).status).toBe(412);
  });
});

describe("If-Match", () => {
  test("one of four concurrent changes that name the same state, at two nodes, is made", async () => {
    verifies("changes.if-match");
    const { read, update } = await createOrganisationWithBot();
    const other = await perch().addApiNode();
    const { etag } = await read();
    // All of them have read the agent, or wait to, before the first can change it.
    const answers = await withTwoClients(async (holder, watcher) => {
      await holder.query("begin");
      await holder.query("select from agents for update");
      const sent = Array.from({ length: 4 }, (_, i) =>
        update({ instructions: `Version ${i}.` }, { "if-match": etag ?? "" }, i % 2 ? other : perch()),
      );
      const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await expect.poll(async () => (await watcher.query(waiting)).rowCount, { timeout: 20_000 }).toBe(sent.length);
      await holder.query("commit");
      return Promise.all(sent);
    });
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 3 }, () => 412)]);
    const made = answers.find(({ status }) => status === 200);
    expect((await read()).body.data.instructions).toBe(made?.body.data.instructions);
  });

  test("`*` matches any existing state; a weak tag matches nothing, because its state may differ", async () => {
    verifies("changes.if-match");
    const { read, update } = await createOrganisationWithBot();
    expect((await update({ temperature: 1 }, { "if-match": "*" })).status).toBe(200);
    const { etag } = await read();
    expect((await update({ temperature: 2 }, { "if-match": `W/${etag}` })).status).toBe(412);
  });

  test.each(["another", '"open', '"a" "b"', '*, "a"', "", '"a",'])(
    "400 names the header if it is %j",
    async (header) => {
      const { update } = await createOrganisationWithBot();
      const answer = await update({ temperature: 1 }, { "if-match": header });
      expect(answer).toMatchObject({ status: 400, body: { error: { details: [{ field: "If-Match" }] } } });
    },
  );

  test("400 if a change takes none, because it would be made without the condition", async () => {
    verifies("changes.if-match");
    const { organisation } = await createOrganisationWithBot();
    const body = { name: "token", value: "a value that is long enough", hosts: ["api.example.com"] };
    const answer = await send(organisation, "POST /v1/secrets", { body }, { "if-match": "*" });
    expect(answer).toMatchObject({ status: 400, body: { error: { details: [{ field: "If-Match" }] } } });
  });

  test("a retry with its Idempotency-Key is answered as the first time, with the same tag", async () => {
    verifies("changes.if-match", "idempotency.replay");
    const { read, update } = await createOrganisationWithBot();
    const headers = { "if-match": (await read()).etag ?? "", "idempotency-key": "once" };
    const first = await update({ temperature: 1 }, headers);
    expect((await update({ temperature: 2 })).status).toBe(200);
    const again = await update({ temperature: 1 }, headers);
    expect(again).toMatchObject({ status: 200, etag: first.etag, body: first.body });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  test("a refused change is not stored under its Idempotency-Key: with the right tag it is made", async () => {
    verifies("idempotency.failures-not-kept");
    const { read, update } = await createOrganisationWithBot();
    const retry = { "idempotency-key": "once" };
    expect((await update({ temperature: 1 }, { ...retry, "if-match": '"old"' })).status).toBe(412);
    expect((await update({ temperature: 1 }, { ...retry, "if-match": (await read()).etag ?? "" })).status).toBe(200);
  });
});
