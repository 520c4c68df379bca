import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listRelations } from "@perch/testkit/installation/database-catalogue.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tables } from "../../src/compose/resources.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { keptDays as agentDays } from "../../src/resources/agents/purge-agents.ts";
import { keptDays as erasureDays } from "../../src/resources/erasures/erasure-queries.ts";
import { openTestDatabase } from "../support/open-database.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/operations/capacity.md"), "utf8");

/** The rows of the page's table with the bound of each table of the database: the tables, and the rest of the row. */
const statedBounds = (page.match(/^\| table \| what bounds it \|\n(?:\|.*\n)+/m)?.[0] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [, tables = "", ...bound] = line.split("|");
    return { tables: [...tables.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name), bound: bound.join("|") };
  });

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("docs/operations/capacity.md states the bound of every table: a new table needs a row there, and a bound", async () => {
  const relations = await withClient(database.ownerUrl, (client) => listRelations(client, []));
  const found = relations.filter(({ parent, kind }) => parent === null && !kind.includes("view"));
  expect(found.length).toBeGreaterThan(30);
  expect(statedBounds.flatMap((row) => row.tables).toSorted()).toEqual(found.map(({ name }) => name).toSorted());
});

test("the page states the days for which partitions and purged rows are stored", async () => {
  const { rows } = await withClient(database.ownerUrl, (client) =>
    client.query<{ name: string; days: number; step: string }>("select name, days, step from partitioned_tables"),
  );
  const boundOf = (table: string) => statedBounds.find(({ tables }) => tables.includes(table))?.bound;
  for (const { name, days, step } of rows) {
    expect(boundOf(name), name).toContain(`${days} days`);
    expect(boundOf(name), name).toContain(`partitions of one ${step}`);
  }
  const purged = Object.entries(tables).flatMap(([name, { purge }]) => (purge ? [{ name, days: purge.keptDays }] : []));
  expect(purged.length).toBeGreaterThan(7);
  for (const { name, days } of purged)
    for (const each of days) expect(boundOf(name), name).toMatch(new RegExp(`\\b${each} days?\\b`));
  expect(boundOf("agents")).toContain(`${agentDays} days`);
  expect(boundOf("erasures")).toContain(`${erasureDays} days`);
});

test("of every partitioned table, the partition that is past its days is dropped, and the one before that stays", async () => {
  const tables = await withClient(database.ownerUrl, async (client) => {
    const { rows } = await client.query<{ name: string; expired: string; last: string }>(`
      select name, to_char(edge - ('1 ' || step)::interval, 'YYYYMMDD') as expired, to_char(edge, 'YYYYMMDD') as last
        from partitioned_tables, lateral (select date_trunc(step, now() at time zone 'utc' - make_interval(days => days)) as edge) e`);
    for (const { name, expired, last } of rows)
      await client.query(`do $$ begin
        execute format('create table if not exists ${name}_${expired} partition of ${name} for values from (%L) to (%L)', '${expired}', '${last}');
        if to_regclass('${name}_${last}') is null then
          execute format('create table ${name}_${last} partition of ${name} for values from (%L) to (%L)', '${last}',
            (select '${last}'::date + ('1 ' || step)::interval from partitioned_tables where name = '${name}'));
        end if; end $$`);
    return rows;
  });
  expect(tables.length).toBeGreaterThan(10);
  const db = openTestDatabase(database.appUrl, 1);
  expect(await maintainPartitions(db.unscoped)).toEqual([]);
  await db.close();
  await withClient(database.ownerUrl, async (client) => {
    for (const { name, expired, last } of tables) {
      const { rows } = await client.query("select to_regclass($1) is null as gone, to_regclass($2) is null as lost", [
        `${name}_${expired}`,
        `${name}_${last}`,
      ]);
      expect(rows, name).toEqual([{ gone: true, lost: false }]);
    }
  });
});
