import { afterAll, beforeAll, expect, test } from "vitest";
import { withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { openDatabase } from "../../src/db/database.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const listPartitions = () =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'idempotent_answers'::regclass order by 1",
    );
    return rows.map(({ name }) => name);
  });

const dayName = (offset: number) =>
  `idempotent_answers_${new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "")}`;

test("the server's role creates partitions a week ahead and drops expired ones with their rows, also concurrently", async () => {
  const bounds = (days: number) => `(now() at time zone 'utc')::date - ${days}`;
  await withClient(database.ownerUrl, async (client) => {
    for (const [name, from, to] of [
      [dayName(-10), 10, 9],
      [dayName(-3), 3, 2],
    ] as const) {
      const { rows } = await client.query<{ low: string; high: string }>(
        `select ${bounds(from)} || ' 00:00:00+00' as low, ${bounds(to)} || ' 00:00:00+00' as high`,
      );
      await client.query(
        `create table ${name} partition of idempotent_answers for values from ('${rows[0]?.low}') to ('${rows[0]?.high}')`,
      );
    }
    await client.query(`drop table ${dayName(7)}`);
  });
  const db = openDatabase({ url: database.appUrl, connections: 5, logger: createLogger("silent") });
  await Promise.all(Array.from({ length: 5 }, () => maintainPartitions(db.unscoped)));
  await db.close();
  expect(await listPartitions()).toEqual(Array.from({ length: 10 }, (_, i) => dayName(i - 2)));
});

test("the server's role can access partitions only through their table", async () => {
  const direct = withClient(database.appUrl, (client) => client.query(`select from ${dayName(0)}`));
  await expect(direct).rejects.toThrow(/permission denied/);
  const drop = withClient(database.appUrl, (client) => client.query(`drop table ${dayName(0)}`));
  await expect(drop).rejects.toThrow(/must be owner/);
});
