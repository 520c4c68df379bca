import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { explainDatabaseError } from "./explain-database-error.ts";
import { refuseOldServer } from "./refuse-old-server.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
});
afterAll(() => database.drop());

function changed(change: (url: URL) => void): string {
  const url = new URL(database.appUrl);
  change(url);
  return url.href;
}

/** The output of a command when PostgreSQL refuses this. */
async function explain(url: string, statement = "select 1"): Promise<string | undefined> {
  const error = await withClient(url, (client) => client.query(statement)).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  const wrapped = new Error("Migration 0001 failed.", { cause: error });
  const line = explainDatabaseError(error, { url, source: "PERCH_DATABASE_URL" });
  expect(explainDatabaseError(wrapped, { url, source: "PERCH_DATABASE_URL" })).toBe(line);
  return line;
}

describe("a failure of PostgreSQL is one line of advice", () => {
  test.each([
    [
      "nothing listens",
      (url: URL) => (url.port = "1"),
      /does not answer at 127\.0\.0\.1:1 \(ECONNREFUSED\)\. Start it/,
    ],
    [
      "a wrong password",
      (url: URL) => (url.password = "not-this-one"),
      /refuses the role perch_server or its password\. Correct PERCH_DATABASE_URL/,
    ],
    [
      "a role that does not exist",
      (url: URL) => (url.username = "nobody"),
      /refuses the role nobody or its password.*perch-server prepare-database/,
    ],
    [
      "no such database",
      (url: URL) => (url.pathname = "/nothing"),
      /has no database nothing\. .*create it: perch-server prepare-database/,
    ],
    [
      "TLS where there is none",
      (url: URL) => (url.search = "?sslmode=verify-full"),
      /No TLS connection .* Correct sslmode in PERCH_DATABASE_URL/,
    ],
  ])("%s", async (_, change, expected) => {
    const line = await explain(changed(change));
    expect(line).toMatch(expected);
    expect(line).not.toMatch(/\n|not-this-one|perch-development/);
  });

  test.each([
    ["a missing table", "select * from data_keys", /lacks what this release needs .*Run: perch-server migrate$/],
    ["a missing function", "select claim_run()", /Run: perch-server migrate$/],
    ["a missing right", "create table x ()", /The role perch_server lacks rights .* perch-server prepare-database$/],
    [
      "a missing role",
      "grant perch_missing to perch_server",
      /is not prepared for Perch .* perch-server prepare-database$/,
    ],
  ])("%s", async (_, statement, expected) => {
    expect(await explain(database.appUrl, statement)).toMatch(expected);
  });

  test("no password, although one is required", () => {
    // Not with a connection: the client leaves it open until the server's limit of a minute.
    const error = new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string");
    const line = explainDatabaseError(error, { url: database.appUrl, source: "PERCH_DATABASE_URL" });
    expect(line).toMatch(/asks for the password of the role perch_server\. Put it into PERCH_DATABASE_URL\.$/);
  });

  test("a role and a database whose names cannot be decoded", () => {
    const error = Object.assign(new Error("refused"), { code: "28P01" });
    const url = "postgres://ro%le@db.example/100%";
    const line = explainDatabaseError(error, { url, source: "PERCH_DATABASE_URL" });
    expect(line).toContain("refuses the role ro%le or its password");
  });

  test("a missing extension", () => {
    const error = Object.assign(new Error('type "halfvec" does not exist'), { code: "42704" });
    expect(explainDatabaseError(error, { url: database.ownerUrl, source: "PERCH_MIGRATION_DATABASE_URL" })).toMatch(
      /lacks the extension vector\. A superuser has to run in it: create extension if not exists vector;$/,
    );
  });

  test("a server that is too old", () => {
    expect(() => refuseOldServer(160_009)).toThrow(/^PostgreSQL 16 is too old: Perch needs PostgreSQL 17\./);
    expect(() => refuseOldServer(170_000)).not.toThrow();
  });

  test("but not a defect of Perch, whose stack is needed", async () => {
    expect(await explain(database.appUrl, "selec 1")).toBeUndefined();
    expect(explainDatabaseError(new TypeError("x"), { url: database.appUrl, source: "" })).toBeUndefined();
  });
});
