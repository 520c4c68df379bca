import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test, vi } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { runCreateKey } from "../../operator/commands/run-create-key.ts";
import { runSetTier } from "../../operator/commands/run-set-tier.ts";

const perch = usePerch();

const createAgent = ({ call }: Organisation, name: string) =>
  call("POST /v1/agents", { body: { name, model: "perch/echo" } }).then((answer) => ok(answer).data);
const readAuditLog = async ({ call }: Organisation, query = {}, as?: string) =>
  ok(await call("GET /v1/audit-log", { query: query as never }, as));

describe("GET /v1/audit-log", () => {
  test("records actor, operation, resource and address, newest first, from the organisation's creation on", async () => {
    verifies("audit.entry-fields");
    const organisation = await perch().createOrganisation();
    const agent = await createAgent(organisation, "bot");
    const key = ok(await organisation.call("GET /v1/me", {})).data.key.id;
    const patch = { temperature: 1, limits: { max_steps: 3 } };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body: patch }));
    const { data, pagination } = await readAuditLog(organisation);
    const by = { actor: "key", key_id: key, user_id: null, resource_type: "agent", resource: agent.id };
    expect(data).toMatchObject([
      { ...by, operation: "updateAgent", details: { fields: ["temperature", "limits.max_steps"] } },
      { ...by, operation: "createAgent", agent_id: agent.id, address: "127.0.0.1", outcome: "changed" },
      { actor: "operator", key_id: null, operation: "create-organisation", resource: organisation.id, address: null },
    ]);
    expect(pagination).toMatchObject({ total: 3, total_relation: "eq", has_more: false, next_cursor: null });
    const who = ["actor", "key_id", "user_id", "person", "session_id", "address"];
    const what = ["operation", "resource_type", "resource", "agent_id", "correlation_id", "outcome", "details"];
    for (const entry of data)
      expect(Object.keys(entry).toSorted()).toEqual(["id", "created_at", ...who, ...what].toSorted());
  });

  test("filters by key, operation, resource and time", async () => {
    verifies("audit.filters");
    const organisation = await perch().createOrganisation();
    const agent = await createAgent(organisation, "one");
    await createAgent(organisation, "two");
    const other = await organisation.createKey({ role: "admin" });
    ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "one" } }, other));
    const operationsOf = async (query: object) =>
      (await readAuditLog(organisation, query)).data.map((entry) => entry.operation);
    const otherId = ok(await organisation.call("GET /v1/me", {}, other)).data.key.id;
    expect(await operationsOf({ key_id: otherId })).toEqual(["deleteAgent"]);
    expect(await operationsOf({ operation: "createAgent" })).toEqual(["createAgent", "createAgent"]);
    expect(await operationsOf({ resource: agent.id })).toEqual(["deleteAgent", "createAgent"]);
    expect(await operationsOf({ end_time: agent.created_at })).not.toContain("deleteAgent");
    expect(await operationsOf({ start_time: "2200-01-01T00:00:00Z" })).toEqual([]);
    const wrong = { start_time: "2026-01-02T00:00:00Z", end_time: "2026-01-01T00:00:00Z" };
    expect(expectError(await organisation.call("GET /v1/audit-log", { query: wrong })).status).toBe(400);
  });

  test("pages by cursor without a gap or a repetition", async () => {
    const organisation = await perch().createOrganisation();
    for (const name of ["a", "b", "c", "d"]) await createAgent(organisation, name);
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await readAuditLog(organisation, { limit: 2, ...(cursor && { cursor }) });
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.pagination.next_cursor;
    } while (cursor);
    expect(seen).toEqual((await readAuditLog(organisation)).data.map(({ id }) => id));
    expect(new Set(seen).size).toBe(5);
    for (const bad of ["x", "W10", "W251bGwsMV0"]) {
      expect(expectError(await organisation.call("GET /v1/audit-log", { query: { cursor: bad } })).status).toBe(400);
    }
  });

  test("a key that belongs to one agent sees only that agent's entries; an organisation sees only its own", async () => {
    verifies("audit.scope");
    const organisation = await perch().createOrganisation();
    const mine = await createAgent(organisation, "mine");
    await createAgent(organisation, "other");
    const bound = await organisation.createKey({ role: "admin", agent_id: "mine" });
    const { data } = await readAuditLog(organisation, {}, bound);
    expect(data.map(({ operation }) => operation)).toEqual(["createKey", "createAgent"]);
    expect(new Set(data.map(({ agent_id }) => agent_id))).toEqual(new Set([mine.id]));
    const otherOrganisation = await perch().createOrganisation();
    expect((await readAuditLog(otherOrganisation)).data.map(({ operation }) => operation)).toEqual([
      "create-organisation",
    ]);
  });

  test("a change that was refused for lack of permission or of a second factor is recorded too", async () => {
    verifies("audit.refusals");
    const organisation = await perch().createOrganisation();
    await createAgent(organisation, "bot");
    const viewer = await organisation.createKey({ role: "viewer" });
    const target = { params: { agent_id: "bot" } };
    expect((await organisation.call("DELETE /v1/agents/{agent_id}", target, viewer)).status).toBe(403);
    const security = { mfa: { enabled: true, operations: ["update" as const] } };
    ok(
      await organisation.call("PATCH /v1/agents/{agent_id}", { ...target, query: { force: true }, body: { security } }),
    );
    const change = { ...target, body: { temperature: 1 } };
    expect((await organisation.call("PATCH /v1/agents/{agent_id}", change)).status).toBe(401);
    const listRefused = async () => {
      const { data } = await readAuditLog(organisation, { outcome: "refused" });
      if (data.length < 2) throw new Error("not written yet");
      return data;
    };
    const refused = await vi.waitFor(listRefused, { timeout: 10_000 });
    expect(refused).toMatchObject([
      { operation: "updateAgent", resource: "bot", details: { reason: "unauthorized" } },
      { operation: "deleteAgent", resource: "bot", details: { reason: "forbidden" } },
    ]);
  });

  test("a change that was refused because its key was revoked is recorded too", async () => {
    verifies("audit.refusals");
    const organisation = await perch().createOrganisation();
    const revoked = await organisation.createKey({ role: "admin" });
    const { id } = ok(await organisation.call("GET /v1/me", {}, revoked)).data.key;
    ok(await organisation.call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }));
    const refused = await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }, revoked);
    expect(refused.status).toBe(401);
    await expect
      .poll(async () => (await readAuditLog(organisation, { outcome: "refused" })).data, { timeout: 10_000 })
      .toMatchObject([{ operation: "createAgent", resource: null, key_id: id, details: { reason: "unauthorized" } }]);
  });

  test("revoking a leaked key without authentication is recorded once", async () => {
    const organisation = await perch().createOrganisation();
    const leaked = await organisation.createKey({ role: "viewer" });
    for (const _ of [1, 2]) ok(await organisation.call("POST /v1/keys/revoke-leaked", { body: { key: leaked } }));
    const { data } = await readAuditLog(organisation, { operation: "revokeLeakedKey" });
    expect(data).toMatchObject([{ actor: "public", key_id: null, resource_type: "key", address: "127.0.0.1" }]);
  });

  test("operators' commands are recorded", async () => {
    const organisation = await perch().createOrganisation();
    const { config, logger } = perch().server.core;
    for (const name of ["log", "error"] as const) vi.spyOn(console, name).mockImplementation(() => {});
    await runSetTier(config, logger, ["--organisation", organisation.id, "--tier", "pro"]);
    await runCreateKey(config, logger, ["--organisation", organisation.id]);
    vi.restoreAllMocks();
    const { data } = await readAuditLog(organisation);
    expect(data.map(({ actor, operation }) => `${actor} ${operation}`)).toEqual([
      "operator create-key",
      "operator set-tier",
      "operator create-organisation",
    ]);
  });
});
