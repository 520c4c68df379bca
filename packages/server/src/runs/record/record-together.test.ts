import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { openTestDatabase } from "../../../test/support/open-database.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { Database } from "../../db/database.ts";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import { newUuid } from "../../platform/ids.ts";
import { createInsertRunRecord } from "./record-together.ts";

let database: TestDatabase;
let db: Database;
const owner = { organisationId: newUuid(), agentId: newUuid() };

beforeAll(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database.appUrl, 4);
  await withClient(database.adminUrl, async (client) => {
    await client.query("insert into organisations (id, name, tier) values ($1, 'O', 'free')", [owner.organisationId]);
    await client.query(
      `insert into agents (organisation_id, id, name, status, definition, security)
         values ($1, $2, 'bot', 'running', '{}', '{}')`,
      [owner.organisationId, owner.agentId],
    );
  });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
afterEach(() => vi.restoreAllMocks());

const session = { turn: 0, history: [] };
const spent = { steps: 1, tokensUsed: 3, durationMs: 5 };
const completed = (response: string): RunOutcome => ({ status: "completed", response, ...spent });
const newRun = (): RunInput => {
  const known = { environment: "production", version: null, deploymentId: null, trial: null, message: "hello" };
  const definition = { memory: { recall: false, remember: false } };
  return { id: newUuid(), ...owner, ...known, userId: null, sessionId: null, definition } as unknown as RunInput;
};
const newRuns = (count: number): RunInput[] => Array.from({ length: count }, newRun);

/** The number of runs in each statement sent so far. */
function observeBatches(): () => number[] {
  const query = vi.spyOn(pg.Client.prototype, "query");
  const isBatch = ([text]: readonly unknown[]) => typeof text === "string" && text.includes("record_runs");
  const sizeOf = ([, values]: readonly unknown[]) => (JSON.parse((values as [string])[0]) as unknown[]).length;
  return () => query.mock.calls.filter(isBatch).map(sizeOf);
}

const countRows = (table: string, ids: readonly string[], column = "id"): Promise<number> =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) from ${table} where ${column} = any ($1::uuid[])`,
      [ids],
    );
    return Number(rows[0]?.count);
  });

describe("runs that end at about the same moment", () => {
  test("are recorded by few statements, and each has its record, log entries and event once", async () => {
    const batches = observeBatches();
    const insertRunRecord = createInsertRunRecord(db);
    const runs = newRuns(200);
    const line = { at: new Date().toISOString(), level: 1, message: "Run completed", metadata: {} };
    const results = await Promise.all(runs.map((run) => insertRunRecord(run, completed("hi"), session, [line, line])));
    expect(results.every(({ inserted }) => inserted)).toBe(true);
    expect(batches().reduce((sum, size) => sum + size, 0)).toBe(200);
    expect(batches().length).toBeLessThanOrEqual(6);
    expect(Math.max(...batches())).toBe(64);
    const ids = runs.map(({ id }) => id);
    expect(await countRows("invocations", ids)).toBe(200);
    expect(await countRows("events", ids)).toBe(200);
    expect(await countRows("log_entries", ids, "invocation_id")).toBe(400);
  });

  test("do not wait if no other run ends: a single run is sent at once by itself", async () => {
    const batches = observeBatches();
    const insertRunRecord = createInsertRunRecord(db);
    for (const run of newRuns(3)) {
      const inserted = insertRunRecord(run, completed("hi"), session, []);
      await sleep(0);
      await inserted;
    }
    expect(batches()).toEqual([1, 1, 1]);
  });

  test("one that the database refuses spoils none of the others", async () => {
    const insertRunRecord = createInsertRunRecord(db);
    const runs = newRuns(30);
    const bad = { ...newRun(), environment: null as unknown as string };
    const all = [...runs.slice(0, 15), bad, ...runs.slice(15)];
    const results = await Promise.allSettled(all.map((run) => insertRunRecord(run, completed("hi"), session, [])));
    expect(results.flatMap(({ status }, i) => (status === "rejected" ? [i] : []))).toEqual([15]);
    expect(
      await countRows(
        "invocations",
        all.map(({ id }) => id),
      ),
    ).toBe(30);
  });

  test("a run that is recorded twice at once is inserted once", async () => {
    const insertRunRecord = createInsertRunRecord(db);
    const twice = newRun();
    const runs = [...newRuns(5), twice, twice, ...newRuns(5), twice];
    const results = await Promise.all(runs.map((run) => insertRunRecord(run, completed("hi"), session, [])));
    expect(results.filter(({ inserted }) => !inserted)).toHaveLength(2);
    expect(await countRows("events", [twice.id])).toBe(1);
  });

  test("large records share a statement with few others", async () => {
    const batches = observeBatches();
    const insertRunRecord = createInsertRunRecord(db);
    const text = "x".repeat(240_000);
    await Promise.all(newRuns(12).map((run) => insertRunRecord(run, completed(text), session, [])));
    expect(Math.max(...batches())).toBe(3);
  });
});

test("an event has the response whole, or truncated at 65,536 characters and marked", async () => {
  const insertRunRecord = createInsertRunRecord(db);
  const [short, long] = [newRun(), newRun()];
  await Promise.all([
    insertRunRecord(short, completed("hi"), session, []),
    insertRunRecord(long, completed("x".repeat(65_537)), session, []),
  ]);
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ id: string; length: number; truncated: string | null }>(
      `select id, length(data ->> 'response') as length, data ->> 'response_truncated' as truncated
         from events where id = any ($1::uuid[]) order by 2`,
      [[short.id, long.id]],
    ),
  );
  expect(rows).toEqual([
    { id: short.id, length: 2, truncated: null },
    { id: long.id, length: 65_536, truncated: "true" },
  ]);
});

test("after a lost connection, every waiting run is rejected, and later ones are recorded", async () => {
  const lost = openTestDatabase(database.appUrl, 4);
  const insertRunRecord = createInsertRunRecord(lost);
  await insertRunRecord(newRun(), completed("hi"), session, []);
  const query = vi
    .spyOn(pg.Client.prototype, "query")
    .mockImplementation((() => Promise.reject(new Error("Connection terminated unexpectedly"))) as never);
  const results = await Promise.allSettled(
    newRuns(10).map((run) => insertRunRecord(run, completed("hi"), session, [])),
  );
  expect(results.every(({ status }) => status === "rejected")).toBe(true);
  query.mockRestore();
  expect((await insertRunRecord(newRun(), completed("hi"), session, [])).inserted).toBe(true);
  await lost.close();
});
