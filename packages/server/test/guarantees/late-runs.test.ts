import { randomUUID } from "node:crypto";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { waitForHousekeeping } from "@perch/testkit/installation/start-housekeeping.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { parsePublicId, toPublicId, uuidTime } from "../../src/platform/ids.ts";
import { openWaitingState, sealWaitingState } from "../../src/resources/waiting-runs/waiting-state.ts";
import type { SuspendedState } from "../../src/runs/execute/run-suspension.ts";
import { ok } from "../support/contract-client.ts";
import { decide, waitForApprovals } from "../support/decisions.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { invokeInBackground } from "../support/invoke-calls.ts";
import { insertRuns } from "../support/stored-runs.ts";
import { insertWaitingRuns } from "../support/waiting-run-rows.ts";

const perch = usePerch({}, { withWorker: true });
const dayMs = 86_400_000;

const query = <T extends object>(text: string, values: unknown[] = []): Promise<T[]> =>
  withClient(perch().database.adminUrl, async (client) => {
    // Only so can a status and a time be set at will.
    await client.query("set session_replication_role = replica");
    return (await client.query<T>(text, values)).rows;
  });

const dayName = (daysAgo: number, table = "invocations") =>
  `${table}_${new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10).replaceAll("-", "")}`;
const noonOf = (daysAgo: number) => new Date(Math.floor(Date.now() / dayMs - daysAgo) * dayMs + dayMs / 2);

/** The partition of a day that is long past, as it was when the day was today. */
const createDay = (daysAgo: number, table = "invocations") =>
  withClient(perch().database.ownerUrl, (client) => {
    const [from, to] = [daysAgo, daysAgo - 1].map((days) => new Date(noonOf(days).getTime() - dayMs / 2).toISOString());
    return client.query(
      `create table ${dayName(daysAgo, table)} partition of ${table} for values from ('${from}') to ('${to}')`,
    );
  });

const hasDay = async (daysAgo: number, table?: string): Promise<boolean> =>
  (await query<{ found: boolean }>("select to_regclass($1) is not null as found", [dayName(daysAgo, table)]))[0]
    ?.found ?? false;

const upkeep = () => maintainPartitions(perch().server.core.db.unscoped);
const idsIn = async (daysAgo: number): Promise<string[]> =>
  (await query<{ id: string }>(`select id from ${dayName(daysAgo)} order by id`)).map(({ id }) => id);

let organisation: Organisation;
let agent: string;
beforeAll(async () => {
  // The worker's own upkeep would drop a day that a test has just created.
  await waitForHousekeeping(perch().server.core.config.adminUrls[0] ?? "");
  organisation = await perch().createOrganisation("enterprise");
  agent = ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data.id;
});

const insertWaiting = (daysAgo: number, count = 1) =>
  insertWaitingRuns(perch().database.adminUrl, {
    organisation: organisation.id,
    agent,
    count,
    acceptedAt: noonOf(daysAgo),
    sessionId: "s1",
  });
const insertEnded = (daysAgo: number, count: number) =>
  insertRuns(perch().database.adminUrl, {
    organisation: organisation.id,
    agent,
    count,
    newest: new Date(noonOf(daysAgo).getTime() - 60_000),
  });

describe("the record of a run that waits", () => {
  test("outlives its day, and all others of that day go", async () => {
    await createDay(40);
    const { runs } = await insertWaiting(40, 3);
    await insertEnded(40, 50);
    expect(await upkeep()).toEqual([]);
    expect(await idsIn(40)).toEqual(runs.toSorted());
    const [run = ""] = runs;
    const found = ok(
      await organisation.call("GET /v1/agents/{agent_id}/invocations/{request_id}", {
        params: { agent_id: "bot", request_id: toPublicId("request", run) },
      }),
    );
    expect(found.data.status).toBe("waiting");
    await upkeep();
    expect(await idsIn(40)).toEqual(runs.toSorted());
  });

  test("stays with its approvals after the end, and goes with the last of them", async () => {
    await createDay(41);
    const { runs } = await insertWaiting(41, 2);
    await upkeep();
    const [ended, other] = runs;
    await query("update invocations set status = 'completed', finished_at = now() where id = $1", [ended]);
    await query("delete from waiting_runs where id = $1", [ended]);
    await query("update approvals set status = 'approved', decided_at = now() where run_id = $1", [ended]);
    await upkeep();
    expect(await idsIn(41)).toEqual(runs.toSorted());
    await query("delete from approvals where run_id = $1", [ended]);
    await upkeep();
    expect(await idsIn(41)).toEqual([other]);
    await query("delete from approvals where run_id = $1", [other]);
    await query("delete from waiting_runs where id = $1", [other]);
    await upkeep();
    expect(await hasDay(41)).toBe(false);
  });

  test("is neither lost nor copied while its day is in use: the next upkeep does it", async () => {
    await createDay(42);
    const { runs } = await insertWaiting(42);
    const [gone = ""] = await insertEnded(42, 1);
    await withClient(perch().database.ownerUrl, async (client) => {
      await client.query(`begin; lock table ${dayName(42)} in row exclusive mode`);
      expect(await upkeep()).toEqual(["invocations"]);
      await client.query("rollback");
    });
    expect(await idsIn(42)).toHaveLength(2);
    expect(await upkeep()).toEqual([]);
    expect(await idsIn(42)).toEqual(runs);
    expect(await idsIn(42)).not.toContain(parsePublicId("request", gone));
  });

  test("can be written to its day's partition, which has the keys, the policy of its table and the states", async () => {
    const [run] = await idsIn(42);
    const change = (status: string) =>
      withClient(perch().database.appUrl, async (client) => {
        await client.query("begin");
        await client.query(`set local perch.organisation_id = '${parsePublicId("organisation", organisation.id)}'`);
        const { rowCount } = await client.query(
          "update invocations set status = $2 where id = $1 and accepted_at = $3",
          [run, status, noonOf(42)],
        );
        await client.query("commit");
        return rowCount;
      });
    await expect(change("completed")).rejects.toThrow(/may not/);
    expect(await change("running")).toBe(1);
    const direct = withClient(perch().database.appUrl, (client) => client.query(`select from ${dayName(42)}`));
    await expect(direct).rejects.toThrow(/permission denied/);
  });
});

describe("a run that ends long after its day", () => {
  test("is recorded with its log lines, session messages, contents and metrics, in days that exist", async () => {
    await createDay(45);
    for (const table of ["log_entries", "session_messages", "run_contents", "run_rollups"]) await createDay(28, table);
    const { runs } = await insertWaiting(45);
    await upkeep();
    const [run = ""] = runs;
    await query("update invocations set status = 'running' where id = $1", [run]);
    const acceptedAt = noonOf(45);
    const record = {
      organisation_id: parsePublicId("organisation", organisation.id),
      id: run,
      accepted_at: acceptedAt,
      agent_id: parsePublicId("agent", agent),
      status: "completed",
      environment: "production",
      session_id: "s1",
      message: "Refund order 7.",
      response: "Refunded.",
      steps: 2,
      tokens_used: 5,
      duration_ms: 10,
      turn: 1,
      owner: "",
      log: [{ at: acceptedAt, level: 1, message: "Tool called", metadata: { type: "tool_call", step: 1 } }],
      lines_before: 1,
      contents: Buffer.from("sealed").toString("base64"),
      rollup: { minute: acceptedAt, hour: acceptedAt, failed: 0, cost_micros: 0, bucket: 1, buckets: 20 },
      event: { type: "agent.completed", data: { request_id: randomUUID() }, sweep_after_seconds: 30 },
    };
    const [recorded] = await withClient(perch().database.appUrl, async (client) => {
      const { rows } = await client.query<{ inserted: boolean }>("select * from record_runs($1, 0::smallint)", [
        JSON.stringify([record]),
      ]);
      return rows;
    });
    expect(recorded?.inserted).toBe(true);
    const days = await query<{ what: string; days: number }>(
      `select 'log' as what, round(extract(epoch from now() - at) / 86400)::int as days from log_entries where invocation_id = $1
       union all select 'message', round(extract(epoch from now() - accepted_at) / 86400)::int from session_messages where invocation_id = $1
       union all select 'contents', round(extract(epoch from now() - accepted_at) / 86400)::int from run_contents where id = $1
       union all select 'rollup', round(extract(epoch from now() - starts_at) / 86400)::int from run_rollups where agent_id = $2`,
      [run, parsePublicId("agent", agent)],
    );
    expect(days.toSorted((a, b) => a.what.localeCompare(b.what))).toEqual([
      { what: "contents", days: 28 },
      { what: "log", days: 28 },
      { what: "message", days: 28 },
      { what: "message", days: 28 },
      { what: "rollup", days: 28 },
      { what: "rollup", days: 28 },
    ]);
  });
});

describe("a run whose person decides after 45 days", () => {
  /** As if the run had been accepted so long ago: its id is of that day, and all that names it. */
  async function makeOld(run: string, old: string): Promise<void> {
    const { approvalContents } = perch().server.core.keys;
    const organisationId = parsePublicId("organisation", organisation.id) ?? "";
    const [row] = await query<{ sealed: Buffer; cut: number }>("select sealed, cut from waiting_runs where id = $1", [
      run,
    ]);
    if (!row) throw new Error("the run does not wait");
    const { cut } = row;
    const state = openWaitingState<SuspendedState>(approvalContents, { organisationId, id: run, cut }, row.sealed);
    const sealed = sealWaitingState(approvalContents, { organisationId, id: old, cut }, {
      ...state,
      run: { ...state.run, id: old },
    } as SuspendedState);
    const values = [run, old, uuidTime(old)];
    await query("update waiting_runs set id = $2, accepted_at = $3, sealed = $4 where id = $1", [...values, sealed]);
    await query("update invocations set id = $2, accepted_at = $3 where id = $1", values);
    await query("update approvals set run_id = $2 where run_id = $1", values.slice(0, 2));
    await query("delete from log_entries where invocation_id = $1", [run]);
  }

  test("goes on and ends: it is found by its id and in lists, with log lines, messages of its session and metrics", async () => {
    for (const table of ["session_messages", "run_rollups", "run_contents"])
      if (!(await hasDay(28, table))) await createDay(28, table);
    await createDay(46);
    const steps = [{ tool_calls: [{ name: "ask_person", arguments: { question: "May I?" } }] }, { reply: "I may." }];
    const asker = ok(
      await organisation.call("POST /v1/agents", {
        body: {
          name: "asker",
          model: "perch/script",
          logs: "full",
          instructions: JSON.stringify({ steps }),
          tools: [{ type: "ask_person", name: "ask_person", description: "Asks.", answer: { type: "string" } }],
        },
      }),
    ).data.id;
    const body = { message: "Do it.", context: { session_id: "s9" } };
    const started = await invokeInBackground(perch(), organisation.adminKey, body, { agent: "asker" });
    const [approval] = await waitForApprovals(perch(), organisation, started);
    const [{ id: old } = { id: "" }] = await query<{ id: string }>("select uuid_at($1) as id", [noonOf(46)]);
    await makeOld(parsePublicId("request", started) ?? "", old);
    expect(await upkeep()).toEqual([]);
    await decide(perch(), organisation, approval?.id ?? "", { verdict: "answer", answer: "yes" });
    const params = { agent_id: "asker", request_id: toPublicId("request", old) };
    const read = async () =>
      ok(await organisation.call("GET /v1/agents/{agent_id}/invocations/{request_id}", { params })).data;
    await expect.poll(async () => (await read()).status, { timeout: 15_000 }).toBe("completed");
    const run = await read();
    expect(run).toMatchObject({ response: "I may.", steps: 2, session_id: "s9" });
    expect(run.timeline.map(({ message }) => message)).toContain("Answered: ask_person");
    const { data: listed } = ok(await organisation.call("GET /v1/invocations", { query: { agent_id: "asker" } }));
    expect(listed.map(({ request_id }) => request_id)).toEqual([params.request_id]);
    const { data: stepsOfRun } = ok(
      await organisation.call("GET /v1/agents/{agent_id}/invocations/{request_id}/steps", { params, query: {} }),
    );
    expect(stepsOfRun.length).toBeGreaterThan(0);
    const counts = await query<{ messages: number; runs: number }>(
      `select (select count(*)::int from session_messages where invocation_id = $1) as messages,
              (select sum(runs)::int from run_rollups where agent_id = $2 and granularity = 'hour') as runs`,
      [old, parsePublicId("agent", asker)],
    );
    expect(counts).toEqual([{ messages: 2, runs: 1 }]);
    await upkeep();
    expect((await read()).status).toBe("completed");
    expect(await query("select from waiting_runs where id = $1", [old])).toEqual([]);
  });
});
