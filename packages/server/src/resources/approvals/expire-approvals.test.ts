import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { insertWaitingRuns, type WaitingRows } from "../../../test/support/waiting-run-rows.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { createLogger } from "../../platform/logger.ts";
import { type ReadyRun, updateReadyIfDecided } from "../waiting-runs/waiting-run-queries.ts";
import { createExpireApprovals } from "./expire-approvals.ts";

const perch = usePerch();
const overdue = new Date(Date.now() - 1000);

async function createAgent() {
  const { id, call } = await perch().createOrganisation("enterprise");
  const agent = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data.id;
  const insert = (rows: Partial<WaitingRows>) =>
    insertWaitingRuns(perch().database.adminUrl, { organisation: id, agent, ...rows });
  return { organisationId: parsePublicId("organisation", id) ?? "", insert };
}

/** Sweeps once, and returns which runs it started and how many approvals it expired. */
async function sweep() {
  const started: ReadyRun[] = [];
  let expired = 0;
  const expire = createExpireApprovals({
    db: perch().server.core.db,
    continueRuns: { start: (run) => void started.push(run) },
    logger: createLogger("silent"),
    nowMs: Date.now,
    telemetry: {
      approvalDecided: (_, approvals = 1) => {
        expired += approvals;
      },
    },
  });
  await expire();
  return { started, expired };
}

const query = <T extends object>(text: string, values: unknown[] = []): Promise<T[]> =>
  withClient(perch().database.adminUrl, async (client) => (await client.query<T>(text, values)).rows);

const statusesOf = (run: string | undefined) =>
  query<{ status: string; decided: boolean; decided_by: unknown }>(
    "select status, decided_at is not null as decided, decided_by from approvals where run_id = $1 order by call",
    [run],
  );
const waitOf = async (run: string | undefined) =>
  (await query<{ status: string }>("select status from waiting_runs where id = $1", [run]))[0]?.status;

describe("an approval without a decision in time", () => {
  test("expires without a decider, and its run is ready and started once", async () => {
    const { organisationId, insert } = await createAgent();
    const { runs } = await insert({ expiresAt: overdue, userId: "ada", sessionId: "s1" });
    const { started, expired } = await sweep();
    expect(expired).toBe(1);
    expect(started).toEqual([
      expect.objectContaining({
        organisationId,
        id: runs[0],
        cut: 1,
        userId: "ada",
        sessionId: "s1",
        timeoutSeconds: 60,
      }),
    ]);
    expect(await statusesOf(runs[0])).toEqual([{ status: "expired", decided: true, decided_by: null }]);
    expect(await waitOf(runs[0])).toBe("ready");
    expect(await sweep()).toEqual({ started: [], expired: 0 });
  });

  test("leaves open what still has time, and the run waits for that", async () => {
    const { insert } = await createAgent();
    const { runs, approvals } = await insert({ approvals: 2 });
    await query("update approvals set expires_at = $2 where id = $1", [approvals[0], overdue]);
    expect(await sweep()).toEqual({ started: [], expired: 1 });
    expect((await statusesOf(runs[0])).map(({ status }) => status).toSorted()).toEqual(["expired", "open"]);
    expect(await waitOf(runs[0])).toBe("waiting");
  });

  test("is left to the decision that holds its run, and a run that a decision completes at the same moment is ready once", async () => {
    const { organisationId, insert } = await createAgent();
    const { runs, approvals } = await insert({ approvals: 2 });
    await query("update approvals set expires_at = $2 where id = $1", [approvals[0], overdue]);
    const decided = perch().server.core.db.inOrganisation(organisationId, async (trx) => {
      const run = { organisationId, id: runs[0] ?? "" };
      await trx.selectFrom("waiting_runs").select("id").where("id", "=", run.id).forUpdate().execute();
      expect(await sweep()).toEqual({ started: [], expired: 0 });
      await trx
        .updateTable("approvals")
        .set({ status: "approved", decided_at: new Date() })
        .where("id", "=", approvals[1] ?? "")
        .execute();
      return updateReadyIfDecided(trx, run);
    });
    expect(await decided).toBeUndefined();
    const sweeps = await Promise.all([sweep(), sweep(), sweep()]);
    expect(sweeps.flatMap(({ started }) => started)).toHaveLength(1);
    expect((await statusesOf(runs[0])).map(({ status }) => status).toSorted()).toEqual(["approved", "expired"]);
  });

  test("expires although very many others cannot be changed, which are tried again", async () => {
    const { insert } = await createAgent();
    const bad = await insert({ expiresAt: new Date(0), count: 250 });
    const good = await insert({ expiresAt: overdue, count: 3 });
    await query(
      `create function refuse_expiry() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
    );
    await query(
      `create trigger refuse_expiry before update on approvals for each row when (old.expires_at = to_timestamp(0)) execute function refuse_expiry()`,
    );
    const { started } = await sweep();
    await query("drop trigger refuse_expiry on approvals");
    expect(started.map(({ id }) => id).toSorted()).toEqual(good.runs.toSorted());
    expect(await waitOf(bad.runs[0])).toBe("waiting");
    expect((await sweep()).started.map(({ id }) => id).toSorted()).toEqual(bad.runs.toSorted());
  });

  test("is found among very many that are open without reading them", async () => {
    const { insert } = await createAgent();
    await insert({ count: 2000 });
    await query("analyze approvals");
    const plan = await query<{ "QUERY PLAN": string }>(
      `explain select organisation_id, run_id from approvals
         where status = 'open' and expires_at <= now() and (expires_at, id) > (to_timestamp(0), uuid '00000000-0000-0000-0000-000000000000')
         order by expires_at, id limit 100`,
    );
    expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).toContain("Index Scan using approvals_expiring");
  });
});
