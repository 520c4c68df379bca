import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { currentSchema, migrate, migrationNames, pendingMigrations, type Schema } from "../../src/db/migrate.ts";
import { refusePrivilegedRole } from "../../src/db/refuse-privileged-role.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { openTestDatabase } from "../support/open-database.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

const logger = createLogger("silent");
let database: TestDatabase;
let schema: Schema;

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  schema = await currentSchema();
});
afterAll(() => database.drop());

const pending = async (): Promise<string[]> => {
  const db = openTestDatabase(database.appUrl, 1, logger);
  const names = await pendingMigrations(db.unscoped, schema);
  await db.close();
  return names;
};
const functionText = (name: string) =>
  withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ text: string }>("select prosrc as text from pg_proc where proname = $1", [
      name,
    ]);
    return rows[0]?.text;
  });

/** The schema of this release with an additional function `probe`, or without it for null. */
const withProbe = (release: string, answer: number | null): Schema => ({
  ...schema,
  release,
  functions: [
    ...schema.functions,
    ...(answer === null
      ? []
      : [{ name: "probe", text: `create or replace function probe() returns int language sql as 'select ${answer}'` }]),
  ],
});

test("everything is pending before; one of five nodes that migrate concurrently applies each part; nothing is pending after", async () => {
  const names = [...(await migrationNames()), ...schema.functions.map(({ name }) => `function ${name}`)];
  expect(names.length).toBeGreaterThan(20);
  expect(await pending()).toEqual(names);
  const reports = await Promise.all(Array.from({ length: 5 }, () => migrate(database.ownerUrl)));
  expect(reports.flatMap(({ applied }) => applied).toSorted()).toEqual(names.toSorted());
  expect(await pending()).toEqual([]);
});

describe("functions", () => {
  test("only a function whose text has changed is applied; one whose file is gone is dropped", async () => {
    expect((await migrate(database.ownerUrl, { schema: withProbe(schema.release, 1) })).applied).toEqual([
      "function probe",
    ]);
    expect((await migrate(database.ownerUrl, { schema: withProbe(schema.release, 1) })).applied).toEqual([]);
    expect((await migrate(database.ownerUrl, { schema: withProbe(schema.release, 2) })).applied).toEqual([
      "function probe",
    ]);
    expect(await functionText("probe")).toBe("select 2");
    expect((await migrate(database.ownerUrl, { schema: withProbe(schema.release, null) })).applied).toEqual([
      "dropped function probe",
    ]);
    expect(await functionText("probe")).toBeUndefined();
  });

  test("an older release does not change a newer schema, finds nothing pending, and logs why", async () => {
    await migrate(database.ownerUrl, { schema: withProbe("99.0.0", 3) });
    const report = await migrate(database.ownerUrl, { schema: withProbe("98.7.6", 4) });
    expect(report).toEqual({ applied: [], newerRelease: "99.0.0", activatedTurn: undefined });
    expect(await functionText("probe")).toBe("select 3");
    expect(await pending()).toEqual([]);
    await withClient(database.ownerUrl, async (client) => {
      await client.query("update schema_release set release = $1", [schema.release]);
      await client.query("insert into kysely_migration (name, timestamp) values ('9999_of_a_newer_release', 'now')");
    });
    expect((await migrate(database.ownerUrl, { schema: withProbe(schema.release, 4) })).newerRelease).toBeDefined();
    expect(await functionText("probe")).toBe("select 3");
    await withClient(database.ownerUrl, (client) =>
      client.query("delete from kysely_migration where name = '9999_of_a_newer_release'"),
    );
    await migrate(database.ownerUrl);
  });

  test("every database function is defined in exactly one file, and in no migration", async () => {
    const { rows } = await withClient(database.adminUrl, (client) =>
      client.query<{ name: string }>(`
        select proname as name from pg_proc p where pronamespace = 'public'::regnamespace
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1`),
    );
    expect(rows.map(({ name }) => name)).toEqual(schema.functions.map(({ name }) => name).toSorted());
    for (const { name, text } of schema.functions)
      expect([...text.matchAll(/create (?:or replace )?function (\w+)/g)].map(([, found]) => found)).toEqual([name]);
    const folder = join(import.meta.dirname, "../../migrations");
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThan(5);
    expect(
      files.filter((file) => /create (or replace )?function/.test(readFileSync(join(folder, file), "utf8"))),
    ).toEqual([]);
  });
});

test("the server refuses a role that could bypass row-level security", async () => {
  for (const url of [database.ownerUrl, database.adminUrl]) {
    const db = openTestDatabase(url, 1, logger);
    await expect(refusePrivilegedRole(db.unscoped)).rejects.toThrow(/perch_app/);
    await db.close();
  }
  const db = openTestDatabase(database.appUrl, 1, logger);
  await expect(refusePrivilegedRole(db.unscoped)).resolves.toBeUndefined();
  await db.close();
});
