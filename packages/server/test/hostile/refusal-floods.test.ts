import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";

const perch = usePerch();

const droppedRefusals = async (reason: string): Promise<number> => {
  const { text } = await perch().server.core.telemetry.read();
  const series = `perch_audit_refusals_dropped_total{reason="${reason}"}`;
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  if (line === undefined) throw new Error(`there is no ${series}`);
  return Number(line.slice(series.length));
};

const countEntries = async ({ call }: Organisation): Promise<number> =>
  ok(await call("GET /v1/audit-log", { query: { outcome: "refused", limit: 1000 } as never })).data.length;

const createAgent = (organisation: Organisation, as: string) =>
  organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }, as);

describe("refused changes", () => {
  test("are all in the audit log or counted, however many come at once", async () => {
    const organisation = await perch().createOrganisation();
    const viewer = await organisation.createKey({ role: "viewer" });
    const before = (await droppedRefusals("busy")) + (await droppedRefusals("failed"));
    const refused = await Promise.all(Array.from({ length: 60 }, () => createAgent(organisation, viewer)));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([403]));
    const dropped = async () => (await droppedRefusals("busy")) + (await droppedRefusals("failed")) - before;
    await expect.poll(async () => (await countEntries(organisation)) + (await dropped())).toBe(60);
    expect(await countEntries(organisation)).toBeGreaterThan(0);
  });

  test("are counted when the database does not take their entry", async () => {
    const organisation = await perch().createOrganisation();
    const viewer = await organisation.createKey({ role: "viewer" });
    const before = await droppedRefusals("failed");
    const { adminUrl } = perch().database;
    await withClient(adminUrl, (client) => client.query("revoke insert on audit_log from perch_app"));
    try {
      expect((await createAgent(organisation, viewer)).status).toBe(403);
      await expect.poll(() => droppedRefusals("failed")).toBe(before + 1);
    } finally {
      await withClient(adminUrl, (client) => client.query("grant insert on audit_log to perch_app"));
    }
  });

  test("are counted when no valid key was sent, and reads are not", async () => {
    const before = await droppedRefusals("unauthenticated");
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ name: "bot", model: "perch/echo" });
    expect((await fetch(`${perch().url}/v1/agents`, { method: "POST", headers, body })).status).toBe(401);
    const unknown = { ...headers, authorization: "Bearer unknown" };
    expect((await fetch(`${perch().url}/v1/agents`, { method: "POST", headers: unknown, body })).status).toBe(401);
    expect((await fetch(`${perch().url}/v1/agents`, { headers: unknown })).status).toBe(401);
    expect(await droppedRefusals("unauthenticated")).toBe(before + 2);
  });
});
