import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { describeRefusedData, isDatabaseUnavailable, isDataRefused } from "./refused-data.ts";

let database: TestDatabase;
let admin: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  await admin.query("set statement_timeout = '5s'");
});
afterAll(async () => {
  await admin.end();
  await database.drop();
});

/** The error of a statement that must fail. */
const errorOf = (statement: string, values: readonly unknown[] = []): Promise<unknown> =>
  admin.query(statement, [...values]).then(
    () => expect.fail("the statement succeeded"),
    (error: unknown) => error,
  );

const organisation = "insert into organisations (id, name, tier) values (gen_random_uuid(), $1, $2)";

const insertLongAgo = `
  insert into invocations (organisation_id, id, accepted_at, agent_id, status, environment, message)
    select id, id, '1999-01-01', id, 'running', '', '' from gen_random_uuid() as id`;

describe("data that the database refuses", () => {
  test.each([
    ["a NUL in JSON", "select $1::jsonb", ['"\\u0000"'], "a character that cannot be stored (SQLSTATE 22P05)"],
    [
      "half a character in JSON",
      "select $1::jsonb",
      ['"\\ud83d"'],
      "a character that cannot be stored (SQLSTATE 22P02)",
    ],
    ["a NUL in a text", "select $1::text", ["a\0b"], "a character that cannot be stored (SQLSTATE 22021)"],
    ["a number", "select $1::numeric::int", ["3000000000"], "a number that is too large (SQLSTATE 22003)"],
    ["JSON of 50,000 levels", "select $1::jsonb", ["[".repeat(50_000)], "nested too deep (SQLSTATE 54001)"],
    ["a row that a constraint forbids", organisation, ["O", "gold"], "break a rule of the database (SQLSTATE 23514)"],
    ["a row without a value", organisation, [null, "free"], "break a rule of the database (SQLSTATE 23502)"],
    ["a date", "select $1::date", ["yesteryear"], "a value that cannot be stored (SQLSTATE 22007)"],
  ])("%s is refused for ever, and the reason quotes nothing", async (_, statement, values, reason) => {
    const error = await errorOf(statement, values);
    expect({ refused: isDataRefused(error), unavailable: isDatabaseUnavailable(error) }).toEqual({
      refused: true,
      unavailable: false,
    });
    expect(describeRefusedData(error)).toContain(reason);
  });
});

describe("a database that may accept the same data later", () => {
  test.each([
    ["is slow", "select pg_sleep(1)", "set local statement_timeout = '10ms'"],
    ["has no partition yet", insertLongAgo, "select 1"],
    ["is stopping", "do $$ begin raise sqlstate '57P01'; end $$", "select 1"],
    ["has no connection left", "do $$ begin raise sqlstate '53300'; end $$", "select 1"],
    ["has a full disk", "do $$ begin raise sqlstate '53100'; end $$", "select 1"],
    ["is a standby", "create table t (a int)", "set transaction read only"],
  ])("because it %s is unavailable", async (_, statement, before) => {
    await admin.query("begin");
    await admin.query(before);
    const error = await errorOf(statement);
    await admin.query("rollback");
    expect({ refused: isDataRefused(error), unavailable: isDatabaseUnavailable(error) }).toEqual({
      refused: false,
      unavailable: true,
    });
  });

  test.each([["42501"], ["42883"], ["40P01"]])("SQLSTATE %s is neither: it is retried for a time", async (state) => {
    const error = await errorOf(`do $$ begin raise sqlstate '${state}'; end $$`);
    expect(isDataRefused(error) || isDatabaseUnavailable(error)).toBe(false);
  });

  test("an error of our own is neither", () => {
    expect(isDataRefused(new Error("22P05")) || isDatabaseUnavailable(new TypeError("x"))).toBe(false);
    expect(isDataRefused("22P05") || isDatabaseUnavailable(undefined)).toBe(false);
  });
});
