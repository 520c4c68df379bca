import { randomUUID } from "node:crypto";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { createEngine } from "../../src/engine/engine.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { insertErasure } from "../../src/resources/erasures/erasure-queries.ts";
import { firstProgress } from "../../src/resources/erasures/erasure-rules.ts";
import { resumeErasures } from "../../src/resources/erasures/resume-erasures.ts";
import { digestUser, sealUser } from "../../src/resources/erasures/seal-user.ts";
import { ok } from "../support/contract-client.ts";
import type { Organisation, Perch } from "../support/harness.ts";
import { usePerchWithWorkerProcesses } from "../support/worker-processes.ts";

const perchWithWorkers = usePerchWithWorkerProcesses({});

/** TEST_ERASURE_RECORDS=100000 measures how long so many records take; the time is printed. */
const records = Number(process.env.TEST_ERASURE_RECORDS ?? 30_000);
const isMeasuring = process.env.TEST_ERASURE_RECORDS !== undefined;
const everyNth = 100;

const query = <T extends object>({ database }: Perch, text: string, values: unknown[]): Promise<T[]> =>
  withClient(database.adminUrl, async (admin) => (await admin.query<T>(text, values)).rows);

/** Ended runs of the last ten hours, one in a hundred of the user, each with two log entries. */
async function insertRuns(perch: Perch, organisation: Organisation): Promise<void> {
  const agent = ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data.id;
  const ids = [parsePublicId("organisation", organisation.id), parsePublicId("agent", agent)];
  await query(
    perch,
    `with run as (
       select uuid_at(at) as id, at, n from (
         select date_trunc('milliseconds', now()) - n * interval '36 seconds' / ($3::int / 1000.0) as exact, n from generate_series(1, $3::int) n) s,
         lateral (select date_trunc('milliseconds', s.exact) as at) t
     ), inserted as (
       insert into invocations (organisation_id, id, accepted_at, agent_id, status, environment, user_id, message, response, duration_ms, finished_at)
         select $1, id, at, $2, 'completed', 'production', case when n % $4::int = 0 then 'marked' else 'user-' || n % 50 end, 'a message', 'a reply', 5, at from run)
     insert into log_entries (organisation_id, agent_id, at, level, message, metadata, invocation_id)
       select $1, $2, at, 1, 'a line', '{}', id from run, generate_series(1, 2)`,
    [...ids, records, everyNth],
  );
}

const readErasure = async ({ call }: Organisation, erasure_id: string) =>
  ok(await call("GET /v1/erasures/{erasure_id}", { params: { erasure_id } })).data;

const removedOf = async (organisation: Organisation, id: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await readErasure(organisation, id)).receipt?.removed.map(({ data, count }) => [data, count]) ?? [],
  );

describe("an erasure", () => {
  test("is completed by another worker when its own is killed, and counts everything once", async () => {
    verifies("erasure.durable");
    const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
    await ensureWorkers(2);
    const organisation = await perch.createOrganisation();
    await insertRuns(perch, organisation);
    const { id } = ok(
      await organisation.call("DELETE /v1/users/{user_id}/data", { params: { user_id: "marked" } }),
    ).data;
    const startedAt = performance.now();
    const readCounts = async () =>
      (
        await query<{ counts: { runs?: number } }>(perch, "select counts from erasures where id = $1", [
          parsePublicId("erasure", id),
        ])
      )[0]?.counts.runs ?? 0;
    if (!isMeasuring) {
      await expect.poll(readCounts, { interval: 5 }).toBeGreaterThan(0);
      await endActiveWorker("SIGKILL");
      expect((await readErasure(organisation, id)).status).toBe("running");
    }
    await expect.poll(async () => (await readErasure(organisation, id)).status, { timeout: 120_000 }).toBe("completed");
    if (isMeasuring) console.log(`${records} records: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    const expected = records / everyNth;
    expect(await removedOf(organisation, id)).toMatchObject({
      "records of runs": expected,
      "log entries": expected * 2,
    });
    const left = await query(perch, "select from invocations where user_id = 'marked'", []);
    expect(left).toEqual([]);
  }, 600_000);

  test("that the engine never got is handed over by housekeeping, also while it has done nothing for long", async () => {
    verifies("erasure.durable");
    const { perch, ensureWorkers } = perchWithWorkers();
    await ensureWorkers(1);
    const organisation = await perch.createOrganisation();
    const { core } = perch.server;
    const key = { organisationId: parsePublicId("organisation", organisation.id) ?? "", id: randomUUID() };
    const sealedUser = sealUser(core.keys.erasedUsers, "lost", key);
    const userDigest = digestUser(core.keys.userDigest, key.organisationId, "lost");
    await core.db.inOrganisation(key.organisationId, (trx) =>
      insertErasure(trx, { ...key, userDigest, sealedUser, progress: firstProgress }),
    );
    const logger = createLogger("silent");
    const engine = createEngine({ ingressUrls: core.config.ingressUrls, logger, onFailure: () => undefined });
    const resume = () => resumeErasures({ db: core.db, engine, logger });
    const isCompleted = async () =>
      (
        await query<{ done: boolean }>(perch, "select completed_at is not null as done from erasures where id = $1", [
          key.id,
        ])
      )[0]?.done;
    try {
      // A young one is left to the process that took it.
      await resume();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(await isCompleted()).toBe(false);
      await query(perch, "update erasures set worked_at = now() - interval '6 minutes' where id = $1", [key.id]);
      await resume();
      await expect.poll(isCompleted).toBe(true);
      // Past its retention the row goes too.
      await query(perch, "update erasures set completed_at = now() - interval '401 days' where id = $1", [key.id]);
      await resume();
      expect(await query(perch, "select from erasures where id = $1", [key.id])).toEqual([]);
    } finally {
      await engine.close();
    }
  }, 60_000);
});
