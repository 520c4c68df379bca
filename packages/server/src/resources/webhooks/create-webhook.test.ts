import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch();
const operation = "POST /v1/webhooks";
const body = { url: "https://hooks.example/perch", events: ["agent.completed" as const] };

async function createOrganisationWithAgent() {
  const organisation = await perch().createOrganisation();
  const agent = ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data;
  return { ...organisation, agent };
}

describe(operation, () => {
  test("201 with the webhook and its secret, which is shown only here", async () => {
    verifies(
      "operations.create-webhook",
      "responses.create-webhook",
      "webhooks.secret-source",
      "webhooks.record-fields",
    );
    const { call, agent } = await createOrganisationWithAgent();
    const answer = await call(operation, { body: { ...body, agent_id: "bot" } });
    expect(answer.status).toBe(201);
    const created = ok(answer).data;
    expect(created).toMatchObject({ ...body, agent_id: agent.id, status: "enabled", disabled_reason: null });
    expect(created.id).toMatch(/^wh_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(created.created_at).toMatch(/Z$/);
    expect(created.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    const params = { webhook_id: created.id };
    const read = ok(await call("GET /v1/webhooks/{webhook_id}", { params })).data;
    expect({ ...read, secret: created.secret }).toEqual(created);
    const changed = ok(await call("PATCH /v1/webhooks/{webhook_id}", { params, body: { enabled: true } }));
    const listed = ok(await call("GET /v1/webhooks", {}));
    for (const later of [read, changed, listed]) expect(JSON.stringify(later)).not.toMatch(/whsec_|"secret"/);
  });

  test("headers are stored and shown as templates; the default is none", async () => {
    verifies("secrets.references-stored");
    const { call } = await perch().createOrganisation();
    expect(ok(await call(operation, { body })).data.headers).toEqual({});
    const headers = { Authorization: "Bearer {{secret.hook_token}}", "X-Team": "ops" };
    const { id, ...created } = ok(await call(operation, { body: { ...body, headers } })).data;
    expect(created.headers).toEqual(headers);
    const read = ok(await call("GET /v1/webhooks/{webhook_id}", { params: { webhook_id: id } })).data;
    expect(read.headers).toEqual(headers);
  });

  test.each([
    ["one that Perch sets itself", { "webhook-signature": "v1,x" }],
    ["one of the transport", { Host: "evil.example" }],
    ["a line break", { "X-Team": "ops\r\nHost: evil.example" }],
    ["braces that are no reference", { "X-Team": "{{env.HOME}}" }],
    ["a name twice", { "X-Team": "a", "x-team": "b" }],
    ["a name that is none", { "X Team": "a" }],
    ["too many", Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`X-${i}`, "a"]))],
  ])("400 names headers with %s", async (_, headers) => {
    const { call } = await perch().createOrganisation();
    const { details } = expectError(await call(operation, { body: { ...body, headers } }), "invalid_request");
    expect(details?.[0]?.field).toMatch(/^headers/);
  });

  test("a webhook without agent_id receives events of all agents", async () => {
    verifies("webhooks.agent-id-optional");
    const { call } = await createOrganisationWithAgent();
    expect(ok(await call(operation, { body })).data.agent_id).toBeNull();
  });

  test("stores its secret encrypted", async () => {
    const { call } = await perch().createOrganisation();
    const { id, secret } = ok(await call(operation, { body })).data;
    const { rows } = await withClient(perch().database.adminUrl, (client) =>
      client.query<{ row: string }>("select w::text as row from webhooks w where id = $1", [
        parsePublicId("webhook", id),
      ]),
    );
    expect(rows).toHaveLength(1);
    const hex = (text: string) => Buffer.from(text).toString("hex");
    for (const hidden of [
      secret,
      hex(secret),
      hex(secret.slice(6)),
      Buffer.from(secret.slice(6), "base64").toString("hex"),
    ])
      expect(rows[0]?.row).not.toContain(hidden);
  });

  test.each(["http://hooks.example/perch", "http://127.0.0.1:9999/", "ftp://hooks.example/", "hooks.example", ""])(
    "400 names the url that is not an HTTPS address: %j",
    async (url) => {
      verifies("webhooks.url-https");
      const { call } = await perch().createOrganisation();
      const { details } = expectError(await call(operation, { body: { ...body, url } }), "invalid_request");
      expect(details).toMatchObject([{ field: "url", error: expect.stringMatching(/https/) }]);
    },
  );

  test.each([
    ["no event", []],
    ["an event that does not exist", ["agent.exploded"]],
    ["an event that is only sent on request", ["webhook.test"]],
    ["an event twice", ["agent.failed", "agent.failed"]],
  ])("400 names the events if there is %s", async (_, events) => {
    const { call } = await perch().createOrganisation();
    const { details } = expectError(
      await call(operation, { body: { ...body, events: events as never } }),
      "invalid_request",
    );
    expect(details?.[0]?.field).toMatch(/^events/);
  });

  test("404 for an unknown agent, or one of another organisation", async () => {
    const { call } = await perch().createOrganisation();
    const { agent } = await createOrganisationWithAgent();
    for (const agent_id of ["bot", agent.id])
      expect(expectError(await call(operation, { body: { ...body, agent_id } }), "not_found").status).toBe(404);
  });

  test("a key that belongs to one agent creates and sees webhooks of that agent only", async () => {
    const { call, createKey } = await createOrganisationWithAgent();
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const key = await createKey({ role: "admin", agent_id: "bot" });
    expectError(await call(operation, { body }, key), "forbidden");
    expectError(await call(operation, { body: { ...body, agent_id: "other" } }, key), "not_found");
    const own = ok(await call(operation, { body: { ...body, agent_id: "bot" } }, key)).data;
    const all = ok(await call(operation, { body })).data;
    expect(ok(await call("GET /v1/webhooks", { query: {} }, key)).data.map(({ id }) => id)).toEqual([own.id]);
    const params = { webhook_id: all.id };
    expectError(await call("GET /v1/webhooks/{webhook_id}", { params }, key), "not_found");
    expectError(await call("DELETE /v1/webhooks/{webhook_id}", { params }, key), "not_found");
  });

  test("409 for more than a thousand webhooks", async () => {
    const { call, id } = await perch().createOrganisation();
    ok(await call(operation, { body }));
    await withClient(perch().database.adminUrl, (client) =>
      client.query(
        `insert into webhooks (organisation_id, id, url, events, sealed_secret)
         select organisation_id, gen_random_uuid(), url, events, sealed_secret from webhooks, generate_series(1, 999) where organisation_id = $1`,
        [parsePublicId("organisation", id)],
      ),
    );
    expect(expectError(await call(operation, { body }), "conflict").message).toMatch(/has 1,000 webhooks, as many as/);
  });
});
