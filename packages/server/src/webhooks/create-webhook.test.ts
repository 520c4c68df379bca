import { webhookSecretPattern } from "@perch/contract";
import { describe, expect, test } from "vitest";
import { withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../../spec/verifies.ts";
import { ok, refusal } from "../../test/contract-client.ts";
import { usePerch } from "../../test/harness.ts";
import { parsePublicId } from "../platform/ids.ts";

const perch = usePerch();
const operation = "POST /v1/webhooks";
const body = { url: "https://hooks.example/perch", events: ["agent.completed" as const] };

async function withBot() {
  const organisation = await perch().newOrganisation();
  const agent = ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data;
  return { ...organisation, agent };
}

describe(operation, () => {
  test("201 with the webhook and, this once, its secret", async () => {
    verifies(
      "operations.create-webhook",
      "responses.create-webhook",
      "webhooks.secret-source",
      "webhooks.record-fields",
    );
    const { call, agent } = await withBot();
    const made = ok(await call(operation, { body: { ...body, agent_id: "bot" } })).data;
    expect(made).toMatchObject({ ...body, agent_id: agent.id, status: "enabled", disabled_reason: null });
    expect(made.id).toMatch(/^wh_/);
    expect(made.secret).toMatch(webhookSecretPattern);
    const read = ok(await call("GET /v1/webhooks/{webhook_id}", { params: { webhook_id: made.id } })).data;
    expect({ ...read, secret: made.secret }).toEqual(made);
    expect(JSON.stringify(read)).not.toContain("whsec_");
  });

  test("without agent_id it is for all agents", async () => {
    verifies("webhooks.agent-id-optional");
    const { call } = await withBot();
    expect(ok(await call(operation, { body })).data.agent_id).toBeNull();
  });

  test("keeps its secret encrypted", async () => {
    const { call } = await perch().newOrganisation();
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
    "400 names the url that is no HTTPS address: %j",
    async (url) => {
      verifies("webhooks.url-https");
      const { call } = await perch().newOrganisation();
      const { details } = refusal(await call(operation, { body: { ...body, url } }), "invalid_request");
      expect(details).toMatchObject([{ field: "url", error: expect.stringMatching(/https/) }]);
    },
  );

  test.each([
    ["no event", []],
    ["an event that does not exist", ["agent.exploded"]],
    ["an event that is sent on request alone", ["webhook.test"]],
    ["an event twice", ["agent.failed", "agent.failed"]],
  ])("400 names the events where there is %s", async (_, events) => {
    const { call } = await perch().newOrganisation();
    const { details } = refusal(
      await call(operation, { body: { ...body, events: events as never } }),
      "invalid_request",
    );
    expect(details?.[0]?.field).toMatch(/^events/);
  });

  test("404 for an agent that is not there, or of another organisation", async () => {
    const { call } = await perch().newOrganisation();
    const { agent } = await withBot();
    for (const agent_id of ["bot", agent.id])
      expect(refusal(await call(operation, { body: { ...body, agent_id } }), "not_found").status).toBe(404);
  });

  test("a key that belongs to one agent makes and sees webhooks of that agent alone", async () => {
    const { call, newKey } = await withBot();
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const key = await newKey({ role: "admin", agent_id: "bot" });
    refusal(await call(operation, { body }, key), "forbidden");
    refusal(await call(operation, { body: { ...body, agent_id: "other" } }, key), "not_found");
    const own = ok(await call(operation, { body: { ...body, agent_id: "bot" } }, key)).data;
    const all = ok(await call(operation, { body })).data;
    expect(ok(await call("GET /v1/webhooks", { query: {} }, key)).data.map(({ id }) => id)).toEqual([own.id]);
    const params = { webhook_id: all.id };
    refusal(await call("GET /v1/webhooks/{webhook_id}", { params }, key), "not_found");
    refusal(await call("DELETE /v1/webhooks/{webhook_id}", { params }, key), "not_found");
  });

  test("409 past a thousand webhooks", async () => {
    const { call, id } = await perch().newOrganisation();
    ok(await call(operation, { body }));
    await withClient(perch().database.adminUrl, (client) =>
      client.query(
        `insert into webhooks (organisation_id, id, url, events, sealed_secret)
         select organisation_id, gen_random_uuid(), url, events, sealed_secret from webhooks, generate_series(1, 999) where organisation_id = $1`,
        [parsePublicId("organisation", id)],
      ),
    );
    expect(refusal(await call(operation, { body }), "conflict").message).toMatch(/1000 webhooks at most/);
  });
});
