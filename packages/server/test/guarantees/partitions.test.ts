import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { indexPartitions, maintainPartitions } from "../../src/db/partitions.ts";
import { openTestDatabase } from "../support/open-database.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const listPartitions = (table = "idempotent_answers") =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = '${table}'::regclass order by 1`,
    );
    return rows.map(({ name }) => name);
  });

const dayName = (offset: number, table = "idempotent_answers") =>
  `${table}_${new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "")}`;

const createOld = (table: string, days: number) =>
  withClient(database.ownerUrl, (client) =>
    client.query(`do $$ declare d date := (now() at time zone 'utc')::date - ${days}; begin
      execute format('create table %I partition of ${table} for values from (%L) to (%L)',
        '${dayName(-days, table)}', d || ' 00:00:00+00', d + 1 || ' 00:00:00+00'); end $$`),
  );

test("the server's role creates partitions a week ahead and drops expired ones with their rows, also concurrently", async () => {
  await createOld("idempotent_answers", 10);
  await createOld("idempotent_answers", 3);
  await withClient(database.ownerUrl, (client) => client.query(`drop table ${dayName(7)}`));
  const db = openTestDatabase(database.appUrl, 5);
  await Promise.all(Array.from({ length: 5 }, () => maintainPartitions(db.unscoped)));
  await db.close();
  expect(await listPartitions()).toEqual(Array.from({ length: 10 }, (_, i) => dayName(i - 2)));
});

test("a long transaction that writes a table blocks neither new partitions nor other tables, and its own partitions are dropped later", async () => {
  await createOld("session_messages", 40);
  await createOld("log_entries", 40);
  await withClient(database.ownerUrl, (client) => client.query(`drop table ${dayName(7, "session_messages")}`));
  const db = openTestDatabase(database.appUrl, 2);
  await withClient(database.ownerUrl, async (client) => {
    await client.query("begin; lock table session_messages in row exclusive mode");
    expect(await maintainPartitions(db.unscoped)).toEqual(["session_messages"]);
    await client.query("rollback");
  });
  expect(await listPartitions("session_messages")).toContain(dayName(7, "session_messages"));
  expect(await listPartitions("session_messages")).toContain(dayName(-40, "session_messages"));
  expect(await listPartitions("log_entries")).not.toContain(dayName(-40, "log_entries"));
  expect(await maintainPartitions(db.unscoped)).toEqual([]);
  expect(await listPartitions("session_messages")).not.toContain(dayName(-40, "session_messages"));
  await db.close();
});

test("a partition that upkeep attaches has the columns, keys and indexes of its table", async () => {
  const shapeOf = (table: string) =>
    withClient(database.adminUrl, async (client) => {
      const { rows } = await client.query<{ shape: string }>(
        `select format('%s %s %s %s', attname, format_type(atttypid, atttypmod), attnotnull, attidentity) as shape
           from pg_attribute where attrelid = $1::regclass and attnum > 0
         union all select regexp_replace(pg_get_indexdef(indexrelid), '^.* USING', '') from pg_index where indrelid = $1::regclass
         union all select pg_get_constraintdef(oid) from pg_constraint where conrelid = $1::regclass and contype <> 'n' order by 1`,
        [table],
      );
      // Whether rows from before a constraint were compared with it; new rows are in any case.
      return rows.map(({ shape }) => shape.replace(/ NOT VALID$/, ""));
    });
  const { rows } = await withClient(database.appUrl, (client) =>
    client.query<{ name: string }>("select name from partitioned_tables"),
  );
  for (const { name } of rows)
    for (const partition of await listPartitions(name))
      expect(await shapeOf(partition), partition).toEqual(await shapeOf(name));
});

test("the server's role can access partitions only through their table", async () => {
  const direct = withClient(database.appUrl, (client) => client.query(`select from ${dayName(0)}`));
  await expect(direct).rejects.toThrow(/permission denied/);
  const drop = withClient(database.appUrl, (client) => client.query(`drop table ${dayName(0)}`));
  await expect(drop).rejects.toThrow(/must be owner/);
});

test.each([
  ["invocations", "running", "invocations_running", "(accepted_at, id) where status = 'running'"],
  ["log_entries", "level", "log_entries_by_level", "(organisation_id, agent_id, level, at, id) where level <> 1"],
])(
  "partitions of %s of past days get an index that is later than they, and new ones have it from their creation",
  async (table, condition, index, columns) => {
    const listUnindexed = () =>
      withClient(database.adminUrl, async (client) => {
        const { rows } = await client.query<{ name: string }>(
          `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
           where i.inhparent = $1::regclass and not exists (
             select from pg_index x where x.indrelid = c.oid and pg_get_expr(x.indpred, x.indrelid) like $2)`,
          [table, `%${condition}%`],
        );
        return rows.map(({ name }) => name);
      });
    const db = openTestDatabase(database.appUrl, 2);
    await maintainPartitions(db.unscoped);
    expect(await listUnindexed()).toEqual([]);
    await withClient(database.ownerUrl, (client) =>
      client.query(`drop index ${index}; create index ${index} on only ${table} ${columns}`),
    );
    expect(await listUnindexed()).toHaveLength(10);
    await Promise.all([indexPartitions(db.unscoped), indexPartitions(db.unscoped)]);
    await indexPartitions(db.unscoped);
    await db.close();
    expect(await listUnindexed()).not.toContain(dayName(-1, table));
    expect(await listUnindexed()).toContain(dayName(0, table));
  },
);
