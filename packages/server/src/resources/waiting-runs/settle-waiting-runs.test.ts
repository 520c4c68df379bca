import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { insertWaitingRuns, type WaitingRows } from "../../../test/support/waiting-run-rows.ts";
import { createLogger } from "../../platform/logger.ts";
import { createSettleWaitingRuns } from "./settle-waiting-runs.ts";

const perch = usePerch();

async function createAgent() {
  const { id, call } = await perch().createOrganisation("enterprise");
  const agent = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data.id;
  const insert = (rows: Partial<WaitingRows>) =>
    insertWaitingRuns(perch().database.adminUrl, { organisation: id, agent, ...rows });
  return { call, agent, insert };
}

/** Returns the ids of the runs that it started. */
async function settle(): Promise<string[]> {
  const started: string[] = [];
  await createSettleWaitingRuns({
    db: perch().server.core.db,
    continueRuns: { start: ({ id }) => void started.push(id) },
    logger: createLogger("silent"),
    nowMs: Date.now,
  })();
  return started;
}

/** As a superuser to whom triggers do not apply: only so can a time and a status be set at will. */
const query = <T extends object>(text: string, values: unknown[] = []): Promise<T[]> =>
  withClient(perch().database.adminUrl, async (client) => {
    await client.query("set session_replication_role = replica");
    return (await client.query<T>(text, values)).rows;
  });

const waitsOf = async (runs: readonly string[]) =>
  (
    await query<{ status: string }>("select status from waiting_runs where id = any ($1) order by position", [runs])
  ).map(({ status }) => status);

describe("runs that wait although their agent is deleted", () => {
  test("are cancelled, all of them and no others, and started so that they end", async () => {
    const [deleted, kept] = [await createAgent(), await createAgent()];
    const [its, others] = [await deleted.insert({ count: 120 }), await kept.insert({ count: 2 })];
    await query(
      "update agents set deleted_at = now() where name = 'bot' and id = (select agent_id from waiting_runs where id = $1)",
      [its.runs[0]],
    );
    expect((await settle()).toSorted()).toEqual(its.runs.toSorted());
    const rows = await query<{ status: string; cancelled: boolean; n: number }>(
      `select a.status, i.cancel_requested_at is not null as cancelled, count(*)::int as n
         from approvals a join invocations i on i.id = a.run_id where a.run_id = any ($1) group by 1, 2 order by 1`,
      [[...its.runs, ...others.runs]],
    );
    expect(rows).toEqual([
      { status: "cancelled", cancelled: true, n: 120 },
      { status: "open", cancelled: false, n: 2 },
    ]);
    expect(new Set(await waitsOf(its.runs))).toEqual(new Set(["ready"]));
    expect(await settle()).toEqual([]);
  });

  test("are cancelled by the deletion itself", async () => {
    const { call, insert } = await createAgent();
    const { runs } = await insert({ count: 3 });
    ok(await call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
    await expect.poll(() => waitsOf(runs)).toEqual(["ready", "ready", "ready"]);
  });
});

describe("rows of runs that were continued", () => {
  const continueAt = (run: string | undefined, at: string, status: string) =>
    query(
      `with changed as (update invocations set status = $3 where id = $1)
       update waiting_runs set status = 'continued', ready_at = now() - $2::interval where id = $1`,
      [run, at, status],
    );

  test("go if the run has ended and was not just continued, and no longer count", async () => {
    const { call, insert } = await createAgent();
    const { runs } = await insert({ count: 4 });
    const [ended, fresh, running, waiting] = runs;
    await continueAt(ended, "11 minutes", "completed");
    await continueAt(fresh, "1 minute", "completed");
    await continueAt(running, "11 minutes", "running");
    await settle();
    const left = await query<{ id: string }>("select id from waiting_runs where id = any ($1)", [runs]);
    expect(left.map(({ id }) => id).toSorted()).toEqual([fresh, running, waiting].toSorted());
    expect(ok(await call("GET /v1/me", {})).data.usage?.waiting_runs.used).toBe(3);
  });
});

describe("turns that wait for the run before theirs", () => {
  test("are ready once it is gone: only the first, and none of another session or user", async () => {
    const { insert } = await createAgent();
    const session = { sessionId: "s1", userId: "ada" };
    const before = await insert(session);
    const [first] = (await insert({ ...session, waitsFor: "turn" })).runs;
    const [second] = (await insert({ ...session, waitsFor: "turn" })).runs;
    await insert({ sessionId: "s1", userId: "bob" });
    expect(await settle()).toEqual([]);
    await query("delete from waiting_runs where id = $1", [before.runs[0]]);
    expect(await settle()).toEqual([first]);
    expect(await waitsOf([first ?? "", second ?? ""])).toEqual(["ready", "waiting"]);
    expect(await settle()).toEqual([]);
    await query("delete from waiting_runs where id = $1", [first]);
    expect(await settle()).toEqual([second]);
  });

  test("are found among those of very many users that share a session's id without reading these", async () => {
    const { insert } = await createAgent();
    const { runs } = await insert({ count: 2000, sessionId: "shared" });
    await query("update waiting_runs set user_id = 'user ' || position where id = any ($1)", [runs.slice(1)]);
    await query("analyze waiting_runs");
    for (const user of ["user 7", null]) {
      const plan = await query<{ "QUERY PLAN": string }>(
        `explain select w.id from waiting_runs w, (select organisation_id, agent_id from waiting_runs where id = $1 limit 1) own
           where w.organisation_id = own.organisation_id and w.agent_id = own.agent_id and w.session_id = 'shared'
             and coalesce(w.user_id, '') = coalesce($2::text, '') and w.user_id is not distinct from $2
           order by w.position limit 1`,
        [runs[0], user],
      );
      const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
      expect(text).toMatch(/Scan using waiting_runs_by_session[^\n]*\n\s*Index Cond: [^\n]*COALESCE\(user_id/);
    }
  });
});
