import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { serviceUrl, withClient } from "../../../../../scripts/testbed/scratch-database.ts";
import { expectFailure } from "../../../test/support/model-servers/model-requests.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import { runPrepareDatabase } from "./run-prepare-database.ts";

const suffix = randomBytes(4).toString("hex");
const database = `prepare_database_${suffix}`;
const owner = `prepare_owner_${suffix}`;

function adminUrl(path: string): string {
  const url = new URL(serviceUrl("PERCH_DATABASE_ADMIN_URL"));
  url.pathname = `/${path}`;
  return url.href;
}

const asAdmin = (...statements: string[]) =>
  withClient(adminUrl("postgres"), async (client) => {
    for (const statement of statements) await client.query(statement);
  });

/** Runs it, and returns what it printed on standard output and why it failed. */
async function runToFailure(...args: string[]) {
  const log = vi.spyOn(console, "log").mockReturnValue(undefined);
  const failure = await expectFailure(runPrepareDatabase(args));
  return { failure, printed: log.mock.calls.flat().join("\n") };
}

beforeAll(() => asAdmin(`create role ${owner} login`, `create database ${database} owner ${owner}`));
afterEach(() => void vi.restoreAllMocks());
afterAll(() => asAdmin(`drop database ${database} with (force)`, `drop role ${owner}`));

describe("perch-server prepare-database --run", () => {
  test("refuses the owner of the database as the server's role, and gives it no rights", async () => {
    const { failure } = await runToFailure("--run", "--url", adminUrl(database), "--server", owner);
    expect(failure).toBeInstanceOf(OperatorError);
    expect(failure.message).toContain("Name another role with --server");
    const memberships = await withClient(adminUrl("postgres"), (client) =>
      client.query("select from pg_auth_members where member = $1::regrole", [owner]),
    );
    expect(memberships.rowCount).toBe(0);
  });
});
