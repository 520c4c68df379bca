import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApi, testConfig, usePerch } from "../../test/support/harness.ts";
import type { Config } from "../config/config.ts";
import { migrationNames } from "../db/migrate.ts";
import { createLogger } from "../platform/logger.ts";
import { shutDown } from "../platform/shutdown.ts";

// Nothing listens at port 1.
const perch = usePerch({ ingressUrls: ["http://127.0.0.1:1"] });
let admin: pg.Client;
beforeAll(async () => {
  admin = new pg.Client({ connectionString: serviceUrl("PERCH_DATABASE_ADMIN_URL") });
  await admin.connect();
});
afterAll(() => admin.end());

async function get(path: string) {
  const response = await fetch(perch().url + path);
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await response.json() };
}
const alive = { status: 200, retryAfter: null, body: { success: true, data: { status: "alive" } } };
const ready = {
  status: 200,
  retryAfter: null,
  // These tests have no engine.
  body: {
    success: true,
    data: {
      status: "ready",
      checks: ["database"],
      warnings: [{ field: "engine", error: "Does not answer; the log says why" }],
    },
  },
};
const notReady = (error: unknown) => ({
  status: 503,
  retryAfter: "5",
  body: {
    success: false,
    error: {
      code: "unavailable",
      message: expect.stringContaining("Not ready"),
      retry_after: 5,
      details: [{ field: "database", error }],
    },
  },
});

describe("GET /healthz and GET /readyz", () => {
  test("need no key, and answer alive and ready", async () => {
    expect(await get("/healthz")).toEqual(alive);
    expect(await get("/readyz")).toEqual(ready);
  });

  test("the engine and Valkey away: ready with a warning for each; there: ready without", async () => {
    const readiness = async (settings: Partial<Config>) => {
      const { app, shutdownSteps } = await startApi(testConfig(perch().database, settings), createLogger("silent"));
      try {
        return (await app.inject("/readyz")).json();
      } finally {
        await shutDown(shutdownSteps, createLogger("silent"));
      }
    };
    const ingressUrls = [serviceUrl("PERCH_RESTATE_INGRESS_URL")];
    const masterKey = perch().server.core.config.masterKey;
    const away = { ingressUrls: ["http://127.0.0.1:1"], valkeyUrl: "redis://127.0.0.1:1" };
    expect(await readiness({ ...away, masterKey })).toMatchObject({
      data: { status: "ready", warnings: [{ field: "engine" }, { field: "valkey" }] },
    });
    // One node of the engine is enough. A busy machine may take longer than a second once.
    const there = { ingressUrls: [...away.ingressUrls, ...ingressUrls], valkeyUrl: serviceUrl("PERCH_VALKEY_URL") };
    await expect
      .poll(() => readiness({ ...there, masterKey }), { interval: 100 })
      .toMatchObject({ data: { status: "ready", warnings: [] } });
  });

  test("while the database is down: alive, not ready; ready again when it is back", async () => {
    const database = new URL(perch().database.adminUrl).pathname.slice(1);
    await admin.query(`alter database ${database} allow_connections false`);
    try {
      await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [database]);
      for (let attempt = 0; attempt < 2; attempt++) {
        const answer = await get("/readyz");
        expect(answer).toEqual(notReady(expect.any(String)));
        // The endpoint is public, so the response must reveal no internals.
        expect(JSON.stringify(answer)).not.toMatch(new RegExp(`${database}|accepting connections|terminat|127\\.0`));
      }
      expect(await get("/healthz")).toEqual(alive);
    } finally {
      await admin.query(`alter database ${database} allow_connections true`);
    }
    expect(await get("/readyz")).toEqual(ready);
  });

  test("while the database does not answer: not ready within a few seconds, and alive in the meantime", async () => {
    await withClient(perch().database.adminUrl, async (holder) => {
      await holder.query("begin");
      await holder.query("lock table kysely_migration in access exclusive mode");
      const started = Date.now();
      const readiness = get("/readyz");
      expect(await get("/healthz")).toEqual(alive);
      expect(await readiness).toEqual(notReady(expect.stringContaining("no answer")));
      expect(Date.now() - started).toBeLessThan(5000);
    });
    expect(await get("/readyz")).toEqual(ready);
  });

  test("with a migration pending: not ready, and its name and the remedy are given", async () => {
    const names = await migrationNames();
    await withClient(perch().database.adminUrl, async (owner) => {
      const { rowCount } = await owner.query("delete from kysely_migration where name = $1", [names.at(-1)]);
      expect(rowCount).toBe(1);
      const remedy = expect.stringMatching(new RegExp(`${names.at(-1)}.*perch-server migrate`));
      expect(await get("/readyz")).toEqual(notReady(remedy));
      await owner.query("drop table kysely_migration");
    });
    expect(await get("/readyz")).toEqual(notReady(expect.stringContaining(String(names[0]))));
    expect(await get("/healthz")).toEqual(alive);
  });
});
