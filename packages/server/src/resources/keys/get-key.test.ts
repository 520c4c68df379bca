import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();
const operation = "GET /v1/keys/{key_id}";

describe(operation, () => {
  test("shows what the list shows of a key, and never the key itself", async () => {
    verifies("keys.get-one", "keys.record-fields");
    const { call } = await perch().createOrganisation();
    const { key, ...created } = ok(await call("POST /v1/keys", { body: { name: "ci", role: "developer" } })).data;
    const answer = await call(operation, { params: { key_id: created.id } });
    expect(ok(answer).data).toEqual(created);
    expect(ok(await call("GET /v1/keys", { query: {} })).data).toContainEqual(created);
    expect(JSON.stringify(answer.body)).not.toContain(key);
  });

  test("404 for ids that do not name a key, and for keys that a key of one agent cannot see", async () => {
    const { call, createKey } = await perch().createOrganisation();
    const { id: key_id } = ok(await call("POST /v1/keys", { body: { name: "ci", role: "viewer" } })).data;
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const ofBot = await createKey({ role: "admin", agent_id: "bot" });
    expectError(await call(operation, { params: { key_id } }, ofBot), "not_found");
    expectError(await call(operation, { params: { key_id: "key_none" } }), "not_found");
  });
});
