import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { startPerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../support/invoke-calls.ts";

/** Those with partitions of one day. */
const tables = [
  "answer_contents",
  "idempotent_answers",
  "invocation_claims",
  "invocations",
  "session_messages",
  "events",
  "log_entries",
  "run_contents",
  "run_rollups",
  "deliveries",
  "delivery_attempts",
];
const dayName = (table: string, offset: number) =>
  `${table}_${new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "")}`;

let engine: RestateCluster;
let perch: Awaited<ReturnType<typeof startPerch>>;
beforeAll(async () => {
  engine = await startRestate();
  perch = await startPerch({ ingressUrls: engine.ingressUrls, adminUrls: engine.adminUrls });
}, 60_000);
afterAll(async () => {
  await perch.stop();
  await engine.stop();
});

const queryAsOwner = <T extends object>(statement: string) =>
  withClient(perch.database.ownerUrl, async (client) => (await client.query<T>(statement)).rows);
const tableExists = async (name: string) =>
  (await queryAsOwner<{ found: boolean }>(`select to_regclass('${name}') is not null as found`))[0]?.found;
const countPartitions = async (table: string) =>
  (await queryAsOwner<object>(`select from pg_inherits where inhparent = '${table}'::regclass`)).length;

async function countScheduledTicks(): Promise<number> {
  const response = await fetch(`${engine.adminUrls[0]}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      query:
        "select id from sys_invocation where target_service_name = 'Housekeeping' and target_handler_name = 'tick'",
    }),
  });
  return ((await response.json()) as { rows: unknown[] }).rows.length;
}

describe("housekeeping", () => {
  test("starts with the first worker, creates missing partitions, and has one next run scheduled, however many workers there are", async () => {
    await queryAsOwner(`drop table ${dayName("log_entries", 7)}`);
    await perch.addWorker();
    await expect.poll(() => tableExists(dayName("log_entries", 7)), { timeout: 15_000 }).toBe(true);
    await perch.addWorker();
    await perch.addWorker();
    await expect.poll(countScheduledTicks, { timeout: 10_000 }).toBe(1);
  });

  test("after a week without housekeeping a run waits for its partition, and completes once it exists", async () => {
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "done" }]);
    await queryAsOwner(`drop table ${dayName("log_entries", 0)}`);
    const waiting = invokeAgent(perch, organisation.adminKey, { message: "hello" });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await maintainPartitions(perch.server.core.db.unscoped);
    expect((await waiting).data.response).toBe("done");
  });

  test("partitions older than 30 days are dropped while runs are written, and no run waits long", async () => {
    for (const table of tables)
      await queryAsOwner(`do $$ declare d date; begin
        for day in 3..40 loop
          d := (now() at time zone 'utc')::date - day;
          execute format('create table if not exists %I partition of ${table} for values from (%L) to (%L)',
            '${table}' || to_char(d, '_YYYYMMDD'), d || ' 00:00:00+00', d + 1 || ' 00:00:00+00');
        end loop; end $$`);
    expect(await countPartitions("log_entries")).toBe(48);
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "done" }]);
    let longestMs = 0;
    let running = true;
    const writing = (async () => {
      while (running) {
        const startedAt = performance.now();
        expect((await invokeAgent(perch, organisation.adminKey, { message: "hello" })).status).toBe(200);
        longestMs = Math.max(longestMs, performance.now() - startedAt);
      }
    })();
    const startedAt = performance.now();
    await maintainPartitions(perch.server.core.db.unscoped);
    const tookMs = performance.now() - startedAt;
    running = false;
    await writing;
    console.log(`housekeeping: ${Math.round(tookMs)} ms, the longest run meanwhile ${Math.round(longestMs)} ms`);
    for (const table of ["log_entries", "run_rollups", "invocations", "session_messages", "events"])
      expect(await countPartitions(table)).toBe(38);
    expect(longestMs).toBeLessThan(10_000);
  }, 180_000);
});
