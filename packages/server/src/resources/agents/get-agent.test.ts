import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();

describe("GET /v1/agents/{agent_id}", () => {
  test("carries the given fields, by id and by name alike", async () => {
    verifies(
      "operations.get-agent",
      "agent.get-fields",
      "agent.ref-id-or-name",
      "agent.timestamps",
      "agent.name",
      "agent.model",
    );
    const { call } = await perch().createOrganisation();
    const { data: created } = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const byId = ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: created.id } }));
    const byName = ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
    expect(byId).toEqual(byName);
    expect(byId.data).toEqual(created);
    expect(Object.keys(byId.data)).toEqual(
      expect.arrayContaining(["id", "name", "status", "model", "created_at", "updated_at"]),
    );
    for (const time of [byId.data.created_at, byId.data.updated_at]) expect(new Date(time).toISOString()).toBe(time);
  });

  test.each([
    "nobody",
    "agent_01h455vb4pex5vsknk084sn02q",
    "agent_zzz",
    "key_01h455vb4pex5vsknk084sn02q",
    "Ünï cödé",
    "a/b",
    "%00",
  ])("404 for %s, which does not exist", async (ref) => {
    verifies("errors.code.not-found");
    const { call } = await perch().createOrganisation();
    const error = expectError(await call("GET /v1/agents/{agent_id}", { params: { agent_id: ref } }));
    expect(error).toMatchObject({ status: 404, code: "not_found" });
  });
});
