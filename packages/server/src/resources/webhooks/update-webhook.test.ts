import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch();
const body = { url: "https://hooks.example/perch", events: ["agent.completed" as const] };
const createWebhook = async ({ call }: Organisation) => ok(await call("POST /v1/webhooks", { body })).data;

describe("PATCH /v1/webhooks/{webhook_id}", () => {
  const operation = "PATCH /v1/webhooks/{webhook_id}";

  test("changes url, headers and events, and keeps omitted fields", async () => {
    const organisation = await perch().createOrganisation();
    const { secret: _, ...before } = await createWebhook(organisation);
    const params = { webhook_id: before.id };
    const changed = ok(await organisation.call(operation, { params, body: { events: ["agent.failed"] } })).data;
    expect(changed).toEqual({ ...before, events: ["agent.failed"], updated_at: changed.updated_at });
    const headers = { Authorization: "Bearer {{secret.hook_token}}" };
    expect(ok(await organisation.call(operation, { params, body: { headers } })).data.headers).toEqual(headers);
    const url = "https://hooks.example/elsewhere";
    expect(ok(await organisation.call(operation, { params, body: { url } })).data).toMatchObject({
      url,
      headers,
      events: ["agent.failed"],
    });
    expect(ok(await organisation.call(operation, { params, body: { headers: {} } })).data.headers).toEqual({});
  });

  test("400 for a new url that would not be allowed at creation", async () => {
    const organisation = await perch().createOrganisation();
    const { id } = await createWebhook(organisation);
    for (const url of ["http://hooks.example/", "https://169.254.169.254/latest"]) {
      const answer = await organisation.call(operation, { params: { webhook_id: id }, body: { url } });
      expect(expectError(answer, "invalid_request").details).toMatchObject([{ field: "url" }]);
    }
  });

  test("disables, and enabling clears disabled_reason and failing_since", async () => {
    const organisation = await perch().createOrganisation();
    const { id } = await createWebhook(organisation);
    const patch = (enabled: boolean) =>
      organisation.call(operation, { params: { webhook_id: id }, body: { enabled } }).then((answer) => ok(answer).data);
    expect(await patch(false)).toMatchObject({ status: "disabled", disabled_reason: null });
    await withClient(perch().database.adminUrl, (client) =>
      client.query("update webhooks set disabled_reason = 'gone', failing_since = now() where id = $1", [
        parsePublicId("webhook", id),
      ]),
    );
    expect(await patch(true)).toMatchObject({ status: "enabled", disabled_reason: null, failing_since: null });
  });

  test("404 for an unknown webhook", async () => {
    const { call } = await perch().createOrganisation();
    for (const webhook_id of ["wh_01h455vb4pex5vsknk084sn02q", "nonsense"])
      expectError(await call(operation, { params: { webhook_id }, body: {} }), "not_found");
  });
});

describe("DELETE /v1/webhooks/{webhook_id}", () => {
  const operation = "DELETE /v1/webhooks/{webhook_id}";

  test("is not found afterwards", async () => {
    verifies("operations.delete-webhook", "responses.delete-webhook");
    const organisation = await perch().createOrganisation();
    const params = { webhook_id: (await createWebhook(organisation)).id };
    const answer = await organisation.call(operation, { params });
    expect(answer.status).toBe(200);
    expect(ok(answer).data).toEqual({ id: params.webhook_id, deleted: true });
    expectError(await organisation.call("GET /v1/webhooks/{webhook_id}", { params }), "not_found");
    expectError(await organisation.call(operation, { params }), "not_found");
  });

  test("deleting an agent deletes its webhooks, and no others", async () => {
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    ok(await call("POST /v1/webhooks", { body: { ...body, agent_id: "bot" } }));
    const { id } = await createWebhook(organisation);
    ok(await call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
    expect(ok(await call("GET /v1/webhooks", { query: {} })).data.map((webhook) => webhook.id)).toEqual([id]);
  });
});

describe("POST /v1/webhooks/{webhook_id}/rotate", () => {
  const operation = "POST /v1/webhooks/{webhook_id}/rotate";

  test("shows a new secret once, with the time until which the old one signs too; without an overlap the old one ends at once", async () => {
    verifies("webhooks.secret-source");
    const organisation = await perch().createOrganisation();
    const before = await createWebhook(organisation);
    const params = { webhook_id: before.id };
    const rotated = ok(await organisation.call(operation, { params, body: { overlap_seconds: 7200 } })).data;
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(before.secret);
    const remainingMs = Date.parse(rotated.previous_secret_expires_at ?? "") - Date.now();
    expect(remainingMs).toBeGreaterThan(2 * 3_600_000 - 60_000);
    expect(remainingMs).toBeLessThanOrEqual(2 * 3_600_000);
    const read = ok(await organisation.call("GET /v1/webhooks/{webhook_id}", { params })).data;
    expect({ ...read, secret: rotated.secret }).toEqual(rotated);
    const atOnce = ok(await organisation.call(operation, { params, body: { overlap_seconds: 0 } })).data;
    expect(atOnce.previous_secret_expires_at).toBeNull();
  });

  test("400 for an overlap of more than a week", async () => {
    const organisation = await perch().createOrganisation();
    const params = { webhook_id: (await createWebhook(organisation)).id };
    expectError(
      await organisation.call(operation, { params, body: { overlap_seconds: 7 * 86_400 + 1 } }),
      "invalid_request",
    );
  });
});
