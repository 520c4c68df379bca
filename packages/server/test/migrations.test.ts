import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../src/db/database.ts";
import { migrate, migrationNames, pendingMigrations } from "../src/db/migrate.ts";
import { refusePrivilegedRole } from "../src/db/refuse-powerful-role.ts";
import { createLogger } from "../src/platform/logger.ts";
import { createTestDatabase, type TestDatabase } from "./test-database.ts";

const logger = createLogger("silent");
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});
afterAll(() => database.drop());

test("before, all migrations are pending; of five nodes that migrate at once, each is applied by one; after, none is pending", async () => {
  const db = openDatabase({ url: database.appUrl, connections: 1, logger });
  const names = await migrationNames();
  expect(names.length).toBeGreaterThan(0);
  expect(await pendingMigrations(db.unscoped)).toEqual(names);
  const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(database.ownerUrl)));
  expect(applied.flat().sort()).toEqual(names);
  expect(await pendingMigrations(db.unscoped)).toEqual([]);
  await db.close();
});

test("the server refuses a role that can bypass row-level security", async () => {
  for (const url of [database.ownerUrl, database.adminUrl]) {
    const db = openDatabase({ url, connections: 1, logger });
    await expect(refusePrivilegedRole(db.unscoped)).rejects.toThrow(/perch_app/);
    await db.close();
  }
  const db = openDatabase({ url: database.appUrl, connections: 1, logger });
  await expect(refusePrivilegedRole(db.unscoped)).resolves.toBeUndefined();
  await db.close();
});
