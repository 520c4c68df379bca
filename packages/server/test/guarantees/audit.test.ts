import { dataPlaneOperations, isRepeatable, type Operation, operationKeys, operations } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildRequest, ok } from "../support/contract-client.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { createOrganisationWithSample } from "../support/operation-samples.ts";
import { connectionConfig } from "../support/sample-connections.ts";

let perch: Awaited<ReturnType<typeof startPerch>>;
beforeAll(async () => {
  perch = await startPerch(connectionConfig, { withWorker: true });
});
afterAll(() => perch.stop());

const changing = operationKeys.filter(
  (key) => !key.startsWith("GET ") && (operations[key] as Operation).permission !== "public",
);

const listAuditEntries = async ({ call }: Organisation, query = {}) =>
  ok(await call("GET /v1/audit-log", { query: { limit: 1000, ...query } as never })).data;

test("the tests below cover the table, and only invoking, cancelling and adding log entries are data plane", () => {
  verifies("audit.every-change");
  expect(changing.length).toBeGreaterThanOrEqual(19);
  const ids = changing.map((key) => operations[key].id);
  // A search is a POST that changes nothing.
  expect(dataPlaneOperations.toSorted()).toEqual([
    "addLogs",
    "cancelInvocation",
    "checkAgent",
    "invokeAgent",
    "searchMemory",
  ]);
  expect(dataPlaneOperations.filter((id) => !ids.includes(id as never))).toEqual([]);
});

describe.each(changing)("%s", (key) => {
  const { id } = operations[key];
  const expected = dataPlaneOperations.includes(id) ? 0 : 1;

  test(`leaves ${expected === 1 ? "exactly one entry" : "no entry, because it is a data-plane operation"}, also when it is repeated`, async () => {
    verifies("audit.every-change");
    const { organisation, first } = await createOrganisationWithSample(perch, key);
    const before = new Set((await listAuditEntries(organisation)).map((entry) => entry.id));
    const { path, init } = buildRequest(key, first);
    const headers = {
      ...(init.headers as object),
      authorization: `Bearer ${organisation.adminKey}`,
      "x-correlation-id": "walk-1",
      ...(isRepeatable(key) && { "idempotency-key": "walk-1" }),
    };
    expect((await fetch(perch.url + path, { ...init, headers })).status).toBeLessThan(300);
    if (isRepeatable(key)) {
      expect((await fetch(perch.url + path, { ...init, headers })).headers.get("idempotent-replayed")).toBe("true");
    }
    const newEntries = (await listAuditEntries(organisation)).filter((entry) => !before.has(entry.id));
    expect(newEntries).toHaveLength(expected);
    for (const entry of newEntries) {
      expect(entry).toMatchObject({
        actor: "key",
        operation: id,
        outcome: "changed",
        address: "127.0.0.1",
        correlation_id: "walk-1",
      });
      expect(entry.key_id).toMatch(/^key_/);
      expect(entry.resource).not.toBeNull();
      if (path.startsWith("/v1/agents")) expect(entry.agent_id).toMatch(/^agent_/);
    }
  });
});

test("the server's database role can neither change nor delete an entry", async () => {
  verifies("audit.append-only");
  await perch.createOrganisation();
  for (const statement of ["update audit_log set actor = 'operator'", "delete from audit_log", "truncate audit_log"]) {
    const attempt = withClient(perch.database.appUrl, (client) => client.query(statement));
    await expect(attempt, statement).rejects.toThrow(/permission denied/);
  }
});

test("a failed change leaves no entry, and every entry has its change", async () => {
  const { organisation } = await createOrganisationWithSample(perch, "POST /v1/agents");
  const before = (await listAuditEntries(organisation)).length;
  const twice = await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } });
  expect(twice.status).toBe(409);
  expect((await listAuditEntries(organisation)).length).toBe(before);
});

test("entries are stored for 400 days", async () => {
  verifies("audit.filters");
  const { rows } = await withClient(perch.database.adminUrl, (client) =>
    client.query("select days from partitioned_tables where name = 'audit_log'"),
  );
  expect(rows).toEqual([{ days: 400 }]);
});

test("no entry contains a value from a request", async () => {
  verifies("audit.entry-fields");
  const organisation = await perch.createOrganisation();
  const secret = "sk-do-not-write-this-down";
  ok(await organisation.call("POST /v1/providers", { body: { name: "acme", type: "openai", api_key: secret } }));
  const [entry] = await listAuditEntries(organisation);
  expect(entry).toMatchObject({ resource: "acme", details: { fields: ["name", "type", "api_key"] } });
  const { rows } = await withClient(perch.database.adminUrl, (client) =>
    client.query("select a::text from audit_log a"),
  );
  expect(JSON.stringify(rows)).not.toContain(secret);
});
