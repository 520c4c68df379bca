import { listRelations, type Relation } from "@perch/testkit/installation/database-catalogue.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/db/database.ts";
import type { RunInput, RunOutcome } from "../../src/engine/messages.ts";
import { newUuid } from "../../src/platform/ids.ts";
import { recordOf } from "../../src/runs/record/record-rules.ts";
import { createInsertRunRecord, type InsertRunRecord } from "../../src/runs/record/record-together.ts";
import { openTestDatabase } from "../support/open-database.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

/**
 * `record_runs`, which belongs to `perch_recorder`, records runs across organisations. These tests show the limits of
 * that role.
 */
let database: TestDatabase;
let db: Database;
let insertRunRecord: InsertRunRecord;

interface Owner {
  readonly organisationId: string;
  readonly agentId: string;
}

let mine: Owner;
let theirs: Owner;

const createOwner = (): Promise<Owner> =>
  withClient(database.adminUrl, async (client) => {
    const owner = { organisationId: newUuid(), agentId: newUuid() };
    await client.query("insert into organisations (id, name, tier) values ($1, 'O', 'free')", [owner.organisationId]);
    await client.query(
      `insert into agents (organisation_id, id, name, status, definition, security)
         values ($1, $2, 'bot', 'running', '{}', '{}')`,
      [owner.organisationId, owner.agentId],
    );
    return owner;
  });

beforeAll(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database.appUrl, 4);
  insertRunRecord = createInsertRunRecord(db);
  mine = await createOwner();
  theirs = await createOwner();
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const outcome: RunOutcome = { status: "completed", response: "hi", steps: 1, tokensUsed: 3, durationMs: 5 };
const session = { turn: 1, history: [] };
const runOf = (owner: Owner, sessionId: string | null = null): RunInput => {
  const id = newUuid();
  const known = { environment: "production", version: null, deploymentId: null, trial: null, message: "hello" };
  const definition = { memory: { recall: false, remember: false } };
  return { id, ...owner, ...known, userId: null, sessionId, definition } as unknown as RunInput;
};

const countRecords = (ids: readonly string[]): Promise<number> =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ count: string }>("select count(*) from invocations where id = any ($1)", [
      ids,
    ]);
    return Number(rows[0]?.count);
  });

const asServer = (statement: string, values: unknown[] = []) =>
  withClient(database.appUrl, (client) => client.query(statement, values));

describe("a run that names an agent of another organisation", () => {
  const stolen = () => runOf({ organisationId: mine.organisationId, agentId: theirs.agentId });

  test("is refused, and nothing of it is written", async () => {
    const run = stolen();
    await expect(insertRunRecord(run, outcome, session, [])).rejects.toThrow("not of its organisation");
    expect(await countRecords([run.id])).toBe(0);
  });

  test("is refused within a batch, whose other runs are recorded", async () => {
    const bad = stolen();
    const good = Array.from({ length: 20 }, (_, i) => runOf(i % 2 === 0 ? mine : theirs, i % 3 === 0 ? `s${i}` : null));
    const runs = [...good.slice(0, 10), bad, ...good.slice(10)];
    const results = await Promise.allSettled(runs.map((run) => insertRunRecord(run, outcome, session, [])));
    expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
    expect(results[10]?.status).toBe("rejected");
    expect(await countRecords(runs.map(({ id }) => id))).toBe(20);
  });
});

test("a record changes neither another organisation's run nor another agent's, though the ids are equal", async () => {
  const run = runOf(theirs);
  await withClient(database.adminUrl, (client) =>
    client.query(
      `insert into invocations (organisation_id, id, accepted_at, agent_id, status, environment, message)
         values ($1, $2, to_timestamp($3), $4, 'running', 'production', 'theirs')`,
      [
        theirs.organisationId,
        run.id,
        Number.parseInt(run.id.replaceAll("-", "").slice(0, 12), 16) / 1000,
        theirs.agentId,
      ],
    ),
  );
  expect(await insertRunRecord({ ...run, ...mine }, outcome, session, [])).toEqual({ inserted: true, toDeliver: [] });
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query("select organisation_id, status, message from invocations where id = $1 order by status", [run.id]),
  );
  expect(rows).toEqual([
    { organisation_id: mine.organisationId, status: "completed", message: "hello" },
    { organisation_id: theirs.organisationId, status: "running", message: "theirs" },
  ]);
});

describe("the server's login", () => {
  test("learns of a run that exists only that it exists, and which deliveries are pending", async () => {
    const run = runOf(theirs);
    await insertRunRecord(run, { ...outcome, response: "a secret" }, session, []);
    const { rows } = await asServer("select * from record_runs($1, 0::smallint)", [
      JSON.stringify([recordOf(run, outcome, session, [])]),
    ]);
    expect(rows).toEqual([{ run_id: run.id, inserted: false, deliveries: [] }]);
  });

  test("sees no rows of any organisation after it has recorded runs", async () => {
    await insertRunRecord(runOf(theirs), outcome, session, []);
    const { rows } = await asServer("select count(*)::int as runs from invocations");
    expect(rows).toEqual([{ runs: 0 }]);
  });

  test("can become neither the recorder nor a member of it", async () => {
    await expect(asServer("set role perch_recorder")).rejects.toThrow("permission denied");
    await expect(asServer(`grant perch_recorder to ${new URL(database.appUrl).username}`)).rejects.toThrow();
  });
});

test("the recorder cannot log in, and has exactly the reviewed rights", async () => {
  const { login, relations } = await withClient(database.adminUrl, async (client) => {
    const role = await client.query("select rolcanlogin, rolbypassrls from pg_roles where rolname = 'perch_recorder'");
    return { login: role.rows, relations: await listRelations(client, ["perch_recorder"]) };
  });
  const rightsOf = ({ rights }: Relation) => rights.perch_recorder ?? [];
  const used = relations.filter((relation) => rightsOf(relation).length > 0);
  expect(login).toEqual([{ rolcanlogin: false, rolbypassrls: false }]);
  expect(Object.fromEntries(used.map((relation) => [relation.name, rightsOf(relation)]))).toEqual({
    agents: ["select (id, organisation_id, deleted_at)"],
    deliveries: [
      "select (organisation_id, id, created_at, webhook_id, event_id, status)",
      "insert (organisation_id, id, created_at, webhook_id, event_id, event_created_at, event_type, next_attempt_at, sweep_after)",
    ],
    events: ["insert"],
    invocations: [
      "select (organisation_id, id, accepted_at, agent_id, status, response, error, steps, tokens_used, duration_ms, finished_at, error_code, retryable)",
      "insert (organisation_id, id, accepted_at, agent_id, status, environment, user_id, session_id, message, response, error, steps, tokens_used, duration_ms, finished_at, version, deployment_id, trial, error_code, retryable, invoker)",
      "update (status, response, error, steps, tokens_used, duration_ms, finished_at, error_code, retryable)",
    ],
    log_entries: [
      "insert (organisation_id, agent_id, at, level, message, metadata, invocation_id, environment, version, line)",
    ],
    record_bytes: ["select", "insert", "update (bytes)"],
    run_contents: ["insert (organisation_id, id, accepted_at, sealed)"],
    run_rollups: ["select", "insert", "update (runs, failed, tokens, duration_ms, cost_micros, duration_buckets)"],
    session_messages: [
      "insert (organisation_id, agent_id, session_id, turn, position, owner, invocation_id, accepted_at, role, content)",
    ],
    webhooks: ["select (organisation_id, id, agent_id, events, status)"],
  });
});
