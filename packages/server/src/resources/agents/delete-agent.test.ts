import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { createSecret } from "../../../test/support/secret-calls.ts";

const perch = usePerch();
const bot = { agent_id: "bot" };

describe("DELETE /v1/agents/{agent_id}", () => {
  test("the agent is not found from then on, by id, by name or in the list", async () => {
    verifies("operations.delete-agent", "responses.delete-agent");
    const { call } = await perch().createOrganisation();
    const { data: agent } = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const deleted = await call("DELETE /v1/agents/{agent_id}", { params: bot });
    expect(deleted.status).toBe(200);
    expect(ok(deleted).data).toEqual({ id: agent.id, deleted: true });
    for (const agent_id of ["bot", agent.id]) {
      expect(expectError(await call("GET /v1/agents/{agent_id}", { params: { agent_id } })).status).toBe(404);
      expect(expectError(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id }, body: {} })).status).toBe(
        404,
      );
      expect(expectError(await call("DELETE /v1/agents/{agent_id}", { params: { agent_id } })).status).toBe(404);
    }
    expect(ok(await call("GET /v1/agents", { query: {} }))).toMatchObject({ data: [], pagination: { total: 0 } });
  });

  test("its name is free again, for a different agent", async () => {
    const { call } = await perch().createOrganisation();
    const first = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data;
    ok(await call("DELETE /v1/agents/{agent_id}", { params: bot }));
    const second = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data;
    expect(second.id).not.toBe(first.id);
    expect(expectError(await call("GET /v1/agents/{agent_id}", { params: { agent_id: first.id } })).status).toBe(404);
  });

  test("its secrets are deleted with it, others are not, and an agent of the same name has none", async () => {
    verifies("secrets.of-agents");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    for (const name of ["bot", "other"]) ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
    for (const agent of ["bot", "other", undefined]) await createSecret(organisation, { ...(agent && { agent }) });
    ok(await call("DELETE /v1/agents/{agent_id}", { params: bot }));
    expect(ok(await call("GET /v1/me", {})).data.usage?.secrets.used).toBe(2);
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    expect(ok(await call("GET /v1/agents/{agent_id}/secrets", { params: bot })).data).toEqual([]);
  });

  test("keys that belong to it stop working, others do not", async () => {
    const { call, createKey } = await perch().createOrganisation();
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    ok(await call("POST /v1/agents", { body: { name: "other", model: "perch/echo" } }));
    const bound = await createKey({ role: "viewer", agent_id: "bot" });
    const boundElsewhere = await createKey({ role: "viewer", agent_id: "other" });
    ok(await call("DELETE /v1/agents/{agent_id}", { params: bot }));
    expect((await call("GET /v1/me", {}, bound)).status).toBe(401);
    expect((await call("GET /v1/me", {}, boundElsewhere)).status).toBe(200);
  });
});
