import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { insertWaitingRuns } from "../../../test/support/waiting-run-rows.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { updateDueOfAgent } from "./waiting-run-queries.ts";

const perch = usePerch();

const query = <T extends object>(text: string, values: unknown[] = []): Promise<T[]> =>
  withClient(perch().database.adminUrl, async (client) => (await client.query<T>(text, values)).rows);

async function createOrganisation() {
  const { id, call } = await perch().createOrganisation("enterprise");
  const organisationId = parsePublicId("organisation", id) ?? "";
  const createAgent = async (name: string, status = "running") => {
    const agent = ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } })).data.id;
    const agentId = parsePublicId("agent", agent) ?? "";
    await query("update agents set status = $2 where id = $1", [agentId, status]);
    /** Not before an hour from now: the server under test does not take them. */
    const insertReady = async (count: number) => {
      const { runs } = await insertWaitingRuns(perch().database.adminUrl, { organisation: id, agent, count });
      await query(
        `update waiting_runs set status = 'ready', ready_at = now(), send_after = now() + interval '1 hour' where id = any ($1)`,
        [runs],
      );
      return runs;
    };
    return { organisationId, agentId, insertReady };
  };
  return { createAgent };
}

/**
 * Makes all ready runs due, those of `first` before the others, and claims them in the same transaction, so that no
 * process claims them first.
 */
const claim = (max: number, first: readonly string[] = []) =>
  withClient(perch().database.adminUrl, async (client) => {
    await client.query("begin");
    await client.query(
      `update waiting_runs set send_after = now() - case when id = any ($1) then interval '2 hours' else interval '1 hour' end
         where status = 'ready'`,
      [first],
    );
    const { rows } = await client.query<{ id: string; agent_id: string }>(
      "select id, agent_id from claim_ready_runs($1, 20, interval '2 s', interval '5 s')",
      [max],
    );
    const changed = await client.query<{ n: number }>(
      "select count(*)::int as n from waiting_runs where status = 'ready' and send_after > now()",
    );
    await client.query("rollback");
    return { rows, changed: changed.rows[0]?.n };
  });

describe("runs that are ready", () => {
  test("are claimed in turn, of organisations and of their agents, and only those are changed", async () => {
    await query("delete from waiting_runs");
    const [one, two] = [await createOrganisation(), await createOrganisation()];
    const [busy, quiet, other] = [
      await one.createAgent("busy"),
      await one.createAgent("quiet"),
      await two.createAgent("a"),
    ];
    const before = await busy.insertReady(300);
    await quiet.insertReady(3);
    await other.insertReady(3);
    const { rows, changed } = await claim(12, before);
    const countOf = (agentId: string) => rows.filter(({ agent_id }) => agent_id === agentId).length;
    expect([countOf(busy.agentId), countOf(quiet.agentId), countOf(other.agentId)]).toEqual([6, 3, 3]);
    expect(changed).toBe(12);
  });

  test("are not held up by those of paused agents, of which a claim takes some", async () => {
    await query("delete from waiting_runs");
    const { createAgent } = await createOrganisation();
    const [paused, running] = [await createAgent("paused", "paused"), await createAgent("running")];
    const before = await paused.insertReady(500);
    const runs = await running.insertReady(50);
    const { rows } = await claim(50, before);
    const claimed = rows.map(({ id }) => id);
    expect(claimed).toEqual(expect.arrayContaining(runs));
    expect(claimed.filter((id) => before.includes(id))).toHaveLength(20);
  });

  test("of a resumed agent are due at once, a thousand at most", async () => {
    await query("delete from waiting_runs");
    const agent = await (await createOrganisation()).createAgent("bot", "paused");
    await agent.insertReady(1100);
    const due = await perch().server.core.db.inOrganisation(agent.organisationId, async (trx) => {
      // The sweeps of the server may have claimed some, which are due again in a few seconds.
      await sql`update waiting_runs set send_after = now() + interval '1 hour'`.execute(trx);
      await updateDueOfAgent(trx, agent);
      // The column has milliseconds, so the present may have been rounded up.
      const { rows } = await sql`select id from waiting_runs where send_after < now() + interval '1 s'`.execute(trx);
      return rows;
    });
    expect(due).toHaveLength(1000);
  });
});
