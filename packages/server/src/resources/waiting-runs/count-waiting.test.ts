import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { insertWaitingRuns } from "../../../test/support/waiting-run-rows.ts";
import { countWaiting } from "./count-waiting.ts";

const perch = usePerch();

test("runs that could go on are counted with the age of the oldest; those of paused agents, and those that are fresh, are not", async () => {
  const { id, call } = await perch().createOrganisation("enterprise");
  const create = async (name: string) =>
    ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } })).data.id;
  const insert = async (agent: string, count: number) =>
    (await insertWaitingRuns(perch().database.adminUrl, { organisation: id, agent, count })).runs;
  const makeReady = (runs: readonly string[], age: string) =>
    withClient(perch().database.adminUrl, (client) =>
      client.query(
        // Not due yet, so that no process starts them in the meantime.
        "update waiting_runs set status = 'ready', ready_at = now() - $2::interval, send_after = now() + interval '1 hour' where id = any ($1)",
        [runs, age],
      ),
    );
  const [running, paused] = [await create("running"), await create("paused")];
  const [old, fresh, held] = [await insert(running, 2), await insert(running, 1), await insert(paused, 3)];
  await makeReady(old, "10 minutes");
  await makeReady(fresh, "1 second");
  await makeReady(held, "1 day");
  const { db } = perch().server.core;
  expect(await countWaiting(db.unscoped)).toMatchObject({ openApprovals: 6, notContinued: 5 });
  ok(await call("POST /v1/agents/{agent_id}/pause", { params: { agent_id: "paused" } }));
  const { notContinued, oldestSeconds } = await countWaiting(db.unscoped);
  expect(notContinued).toBe(2);
  expect(Math.round(oldestSeconds / 60)).toBe(10);
});
