import { setTimeout as sleep } from "node:timers/promises";
import { ErrorBody, errorStatus } from "@perch/contract";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../test/support/harness.ts";

const perch = usePerch();
let organisation: Organisation;
let admin: pg.Client;
let database: string;

beforeAll(async () => {
  organisation = await perch().createOrganisation();
  database = new URL(perch().database.adminUrl).pathname.slice(1);
  admin = new pg.Client({ connectionString: serviceUrl("PERCH_DATABASE_ADMIN_URL") });
  await admin.connect();
});
afterAll(() => admin.end());

const breakConnections = () =>
  admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename = $2", [
    database,
    new URL(perch().database.appUrl).username,
  ]);

/** Sends as the admin, and checks that a failure has our error body and reveals no internals. */
async function get(path: string) {
  const headers = { authorization: `Bearer ${organisation.adminKey}` };
  const response = await fetch(perch().url + path, { headers });
  const text = await response.text();
  if (response.ok) return { status: response.status };
  const { error } = ErrorBody.strict().parse(JSON.parse(text));
  expect(response.status).toBe(errorStatus[error.code]);
  expect(text).not.toMatch(/select|insert|\brelation\b|agent_counts|postgres|node_modules|\.ts\b|at .*\(/i);
  expect(text).not.toContain(database);
  return { status: response.status, error, headers: response.headers };
}

describe("when the database is down", () => {
  test("503 with a Retry-After, and requests work again when the database is back", async () => {
    verifies("errors.code.others");
    await Promise.all(Array.from({ length: 5 }, () => get("/v1/agents")));
    await admin.query(`alter database ${database} allow_connections false`);
    try {
      await breakConnections();
      for (let request = 0; request < 4; request++) {
        const { status, error, headers } = await get("/v1/agents");
        expect({ status, code: error?.code }).toEqual({ status: 503, code: "unavailable" });
        expect(error?.retry_after).toBeGreaterThan(0);
        expect(headers?.get("retry-after")).toBe(String(error?.retry_after));
      }
    } finally {
      await admin.query(`alter database ${database} allow_connections true`);
    }
    expect((await get("/v1/agents")).status).toBe(200);
  });

  test("a request whose connection breaks is 503, and the process keeps running", async () => {
    const { call } = organisation;
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo", instructions: "before" } }));
    const crashes: unknown[] = [];
    const note = (error: unknown) => void crashes.push(error);
    process.on("uncaughtException", note);
    await withClient(perch().database.adminUrl, async (holder) => {
      await holder.query("begin");
      await holder.query("select from agents for update");
      const body = { instructions: "after" };
      const patch = call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body });
      const locked = "select from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'";
      while ((await admin.query(locked, [database])).rowCount !== 1) await sleep(10);
      await breakConnections();
      expect((await patch).status).toBe(503);
    });
    await sleep(50);
    process.off("uncaughtException", note);
    expect(crashes).toEqual([]);
    const { data } = ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
    expect(data.instructions).toBe("before");
  });
});

describe("an unexpected failure", () => {
  test("500 gives the correlation id to report, and nothing of the cause", async () => {
    verifies("errors.code.server-error", "errors.body.shape");
    await withClient(perch().database.adminUrl, (owner) => owner.query("drop table agent_counts"));
    const { status, error, headers } = await get("/v1/agents");
    expect({ status, code: error?.code }).toEqual({ status: 500, code: "server_error" });
    const id = headers?.get("x-correlation-id");
    expect(id).toMatch(/^corr_/);
    expect(error?.message).toContain(String(id));
    expect((await get("/v1/keys")).status).toBe(200);
  });
});
