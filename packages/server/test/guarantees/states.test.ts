import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createRow,
  type Lifecycle,
  lifecycleOf,
  lifecycles,
  type Owner,
  type State,
  type Step,
  stepsOf,
} from "../support/lifecycles.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

const architecture = readFileSync(join(import.meta.dirname, "../../../../ARCHITECTURE.md"), "utf8");

/** Columns with a fixed set of values that is not a lifecycle: each value is chosen once, or may be replaced by any other. */
const otherEnumerations = [
  "api_keys.role",
  "approvals.kind",
  "audit_log.actor",
  "audit_log.outcome",
  // A new link may take the row in any of them.
  "connection_links.status",
  "connections.revoked_at_provider",
  "console_sessions.role",
  "engine_tasks.kind",
  "model_providers.type",
  "organisations.tier",
  "partitioned_tables.step",
  "run_rollups.granularity",
  "session_messages.role",
  "waiting_runs.waits_for",
];

let database: TestDatabase;
let owner: Owner;

/** Tries something with the rights of the server, and undoes it. Why the database refuses it; undefined when it does not. */
async function findRefusal(client: pg.Client, attempt: () => Promise<unknown>): Promise<string | undefined> {
  await client.query("begin");
  await client.query("select set_config('perch.organisation_id', $1, true)", [owner.organisationId]);
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return error instanceof pg.DatabaseError ? error.message : Promise.reject(error);
  } finally {
    await client.query("rollback");
  }
}

beforeAll(async () => {
  database = await createTestDatabase();
  owner = { organisationId: randomUUID(), agentId: randomUUID(), version: "1" };
  await withClient(database.adminUrl, async (client) => {
    const { organisationId, agentId, version } = owner;
    await client.query("insert into organisations (id, name, tier) values ($1, 'Acme', 'free')", [organisationId]);
    await client.query(
      "insert into agents (organisation_id, id, name, status, definition, security) values ($1, $2, 'bot', 'running', '{}', '{}')",
      [organisationId, agentId],
    );
    await client.query(
      "insert into agent_versions (organisation_id, agent_id, label, definition, checksum) values ($1, $2, $3, '{}', sha256(''))",
      [organisationId, agentId, version],
    );
  });
});
afterAll(() => database.drop());

const describeStep = ([from, to]: Step): string => `${from ?? "[*]"} --> ${to ?? "[*]"}`;
const describeSteps = (steps: readonly Step[]): string[] => steps.map(describeStep).toSorted();

/** The lines of the diagram between this heading, of any level, and the next. */
function linesOfDiagram(of: string): string[] {
  const sections = architecture.split(/^#+ /m).filter((section) => section.split("\n")[0]?.includes(`States of ${of}`));
  const diagrams = sections.flatMap((section) => [...section.matchAll(/```mermaid\nstateDiagram-v2\n(.*?)```/gs)]);
  expect(diagrams.length, `diagrams under "States of ${of}" in ARCHITECTURE.md`).toBe(1);
  return (diagrams[0]?.[1] ?? "").split("\n").flatMap((line) => line.trim() || []);
}

test("every column that lists its values is a lifecycle, or is known not to be one", async () => {
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ name: string }>(`
      select c.relname || '.' || a.attname as name
        from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0
          and (t.typtype = 'e'
            or (t.typcategory = 'S' and a.attname ~ '(status|state)$')
            or (t.typcategory = 'S' and exists (
              select from pg_constraint k where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
                and pg_get_constraintdef(k.oid) ~ '= ANY \\(ARRAY\\['))) `),
  );
  const claimed = lifecycles.map(({ table }) => `${table}.status`);
  expect(claimed.length).toBeGreaterThan(4);
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...claimed, ...otherEnumerations].toSorted());
});

test("ARCHITECTURE.md has no diagram of states that is not compared", () => {
  expect(architecture.match(/^stateDiagram/gm)?.length).toBe(lifecycles.length);
});

test("every partition has the triggers of its table, also one that is created later", async () => {
  await withClient(database.appUrl, (client) =>
    client.query("select maintain_partitions(name, 2, 20) from partitioned_tables"),
  );
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ table: string; partitions: string; triggers: string[] }>(
      `select p.relname as table, count(distinct c.oid) as partitions,
             array_agg(distinct (select string_agg(t.tgname, ' ' order by t.tgname) from pg_trigger t
               where t.tgrelid = c.oid and t.tgfoid = 'check_transition'::regproc and t.tgenabled = 'O')) as triggers
        from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
        where p.relname = any ($1) and p.relkind = 'p' group by 1 order by 1`,
      [lifecycles.map(({ table }) => table)],
    ),
  );
  expect(rows.map(({ table, triggers }) => [table, triggers])).toEqual([
    ["deliveries", ["deliveries_initial deliveries_transition"]],
    ["invocations", ["invocations_transition"]],
  ]);
  for (const { partitions } of rows) expect(Number(partitions)).toBeGreaterThanOrEqual(23);
});

describe.each(lifecycles)("the states of $of", (lifecycle: Lifecycle) => {
  const { of, table, statuses, transitions } = lifecycle;
  const steps = stepsOf(lifecycle);
  const states: State[] = [null, ...statuses];

  const findOne = (query: string, name: string) =>
    withClient(database.adminUrl, async (client) => {
      const { rows } = await client.query<{ definition: string }>(query, [name]);
      return rows[0]?.definition;
    });
  /**
   * The changes that a trigger allows: its arguments after the first, which names the resource. Undefined if there is
   * no trigger.
   */
  const findAllowed = async (trigger: string): Promise<string[] | undefined> => {
    const query = "select pg_get_triggerdef(oid) as definition from pg_trigger where tgname = $1 and tgparentid = 0";
    const definition = await findOne(query, trigger);
    const list = definition?.match(/EXECUTE FUNCTION check_transition\((.*)\)$/)?.[1];
    return list === undefined ? undefined : [...list.matchAll(/'([^']*)'/g)].flatMap(([, each]) => each ?? []).slice(1);
  };

  /** The row is made anew for each step, by transitions of the table. */
  const findRefusalOf = (client: pg.Client, step: Step): Promise<string | undefined> => {
    const row = createRow(client, lifecycle, owner);
    return findRefusal(client, async () => {
      await row.bringTo(step[0]);
      await row.move(step);
    });
  };

  test("are the same in the table of transitions and in ARCHITECTURE.md", () => {
    const lines = Object.entries(transitions).flatMap(([action, { from, to }]) =>
      from.map((state) => `${describeStep([state, to])}: ${action}`),
    );
    expect(lines.length).toBeGreaterThan(0);
    expect(linesOfDiagram(of).toSorted()).toEqual(lines.toSorted());
  });

  test("are those that the database allows, and the contract declares", async () => {
    const check = await findOne(
      "select pg_get_constraintdef(oid) as definition from pg_constraint where conname = $1 and conparentid = 0",
      `${table}_status_check`,
    );
    expect([...(check ?? "").matchAll(/'(\w+)'/g)].map(([, status]) => status)).toEqual(statuses);
  });

  test("have the same transitions in the triggers of the database", async () => {
    const allowed = [
      ...((await findAllowed(`${table}_initial`)) ?? statuses),
      ...((await findAllowed(`${table}_transition`)) ?? []),
    ];
    const inTable = steps.flatMap(([from, to]) => (to === null ? [] : from === null ? to : `${from} -> ${to}`));
    expect(allowed.toSorted()).toEqual(inTable.toSorted());
  });

  test("change on a real row as the table states, and every other change is refused", async () => {
    verifies("deployment.statuses");
    const allowed: Step[] = [];
    await withClient(database.appUrl, async (client) => {
      for (const from of states)
        for (const to of states.filter((state) => state !== from)) {
          const refusal = await findRefusalOf(client, [from, to]);
          if (refusal === undefined) allowed.push([from, to]);
          else if (to === null)
            expect([`permission denied for table ${table}`, `${of} that is ${from} may not be deleted`]).toContain(
              refusal,
            );
          else expect(refusal).toBe(`${of} may not ${from === null ? "begin as" : `change from ${from} to`} ${to}`);
        }
    });
    expect(describeSteps(allowed)).toEqual(describeSteps(steps));
  });

  test("are preserved by an update to the same state", () =>
    withClient(database.appUrl, async (client) => {
      for (const status of statuses) expect(await findRefusalOf(client, [status, status])).toBeUndefined();
    }));
});

test.each([
  { table: "invocations", time: "accepted_at", from: "completed", to: "running" },
  { table: "deliveries", time: "created_at", from: "delivered", to: "pending" },
])("an update that moves a row of $table to another partition cannot bring it from $from to $to", async (move) => {
  const lifecycle = lifecycleOf(move.table);
  await withClient(database.appUrl, async (client) => {
    const refusal = await findRefusal(client, async () => {
      const row = createRow(client, lifecycle, owner);
      await row.bringTo(move.from);
      const yesterday = new Date(Date.now() - 86_400_000);
      await row.update({ ...lifecycle.columnsIn?.(move.to), status: move.to, [move.time]: yesterday });
    });
    expect(refusal).toBe(`${lifecycle.of} may not change from ${move.from} to ${move.to}`);
  });
});

test("a deleted agent preserves its status and stays deleted", async () => {
  await withClient(database.appUrl, async (client) => {
    const findRefusalOf = (change: Readonly<Record<string, unknown>>) =>
      findRefusal(client, async () => {
        const row = createRow(client, lifecycleOf("agents"), owner);
        await row.bringTo("running");
        await row.move(["running", null]);
        await row.update(change);
      });
    expect(await findRefusalOf({ name: "renamed" })).toBeUndefined();
    expect(await findRefusalOf({ status: "paused" })).toBe("an agent may not change from deleted to paused");
    expect(await findRefusalOf({ deleted_at: null })).toBe("an agent may not change from deleted to running");
  });
});
