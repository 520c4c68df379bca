import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();
const operation = "GET /v1/webhooks";

async function createOrganisationWithThreeWebhooks() {
  const organisation = await perch().createOrganisation();
  const { call } = organisation;
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  const createWebhook = async (n: number, agent_id?: string) =>
    ok(
      await call("POST /v1/webhooks", {
        body: { url: `https://hooks.example/${n}`, events: ["agent.failed"], ...(agent_id && { agent_id }) },
      }),
    ).data.id;
  const ids = [await createWebhook(1), await createWebhook(2, "bot"), await createWebhook(3)];
  return { ...organisation, ids };
}

describe(operation, () => {
  test("newest first, in the list envelope, page by page, and never with a secret", async () => {
    verifies("operations.list-webhooks", "responses.list-webhooks", "lists.webhooks-parameters");
    const { call, ids } = await createOrganisationWithThreeWebhooks();
    const page = ok(await call(operation, { query: { limit: 2 } }));
    expect(page.data.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(page.pagination).toEqual({ limit: 2, offset: 0, total: 3, has_more: true });
    const rest = ok(await call(operation, { query: { limit: 2, offset: 2 } }));
    expect(rest.data.map(({ id }) => id)).toEqual([ids[0]]);
    expect(JSON.stringify([page, rest])).not.toContain("whsec_");
    const ascending = ok(await call(operation, { query: { sort: "created_at" } }));
    expect(ascending.data.map(({ id }) => id)).toEqual(ids);
  });

  test("filters by agent, by name or id, and by status", async () => {
    verifies("lists.webhooks-parameters");
    const { call, ids } = await createOrganisationWithThreeWebhooks();
    expect(ok(await call(operation, { query: { agent_id: "bot" } })).data.map(({ id }) => id)).toEqual([ids[1]]);
    const params = { webhook_id: ids[0] ?? "" };
    ok(await call("PATCH /v1/webhooks/{webhook_id}", { params, body: { enabled: false } }));
    expect(ok(await call(operation, { query: { status: "disabled" } })).data.map(({ id }) => id)).toEqual([ids[0]]);
    expectError(await call(operation, { query: { agent_id: "nobody" } }), "not_found");
  });

  test("reading needs read, creating write, deleting delete", async () => {
    verifies("permissions.webhooks");
    const { call, createKey, ids } = await createOrganisationWithThreeWebhooks();
    const body = { url: "https://hooks.example/", events: ["agent.failed" as const] };
    const params = { webhook_id: ids[0] ?? "" };
    const viewer = await createKey({ role: "viewer" });
    const developer = await createKey({ role: "developer" });
    ok(await call(operation, { query: {} }, viewer));
    expectError(await call("POST /v1/webhooks", { body }, viewer), "forbidden");
    ok(await call("POST /v1/webhooks", { body }, developer));
    expectError(await call("DELETE /v1/webhooks/{webhook_id}", { params }, developer), "forbidden");
    const [reader, writer, deleter] = [
      await createKey({ permissions: ["read"] }),
      await createKey({ permissions: ["write"] }),
      await createKey({ permissions: ["delete"] }),
    ];
    for (const other of [writer, deleter]) expectError(await call(operation, { query: {} }, other), "forbidden");
    for (const other of [reader, deleter]) expectError(await call("POST /v1/webhooks", { body }, other), "forbidden");
    ok(await call("POST /v1/webhooks", { body }, writer));
    ok(await call("DELETE /v1/webhooks/{webhook_id}", { params }, deleter));
  });
});
