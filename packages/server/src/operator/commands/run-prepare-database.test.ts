import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { expectFailure } from "../../../test/support/model-requests.ts";
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

/** Runs it, and returns its standard output and the reason of its failure. */
async function runToFailure(...args: string[]) {
  const log = vi.spyOn(console, "log").mockReturnValue(undefined);
  const failure = await expectFailure(runPrepareDatabase(args));
  return { failure, printed: log.mock.calls.flat().join("\n") };
}

beforeAll(() => asAdmin(`create role ${owner} login`, `create database ${database} owner ${owner}`));
afterEach(() => void vi.restoreAllMocks());
afterAll(() => asAdmin(`drop database ${database} with (force)`, `drop role ${owner}`));

describe("perch-server prepare-database --run", () => {
  test("reports a PostgreSQL that accepts the connection and does not answer", async () => {
    const silent = createServer();
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const { failure } = await runToFailure("--run", "--url", `postgres://nobody@127.0.0.1:${port}/none`);
    silent.close();
    expect(failure).toBeInstanceOf(OperatorError);
    expect(failure.message).toContain(`does not answer at 127.0.0.1:${port} (timeout expired)`);
  });

  test("refuses the owner of the database as the server's role, and gives it no rights", async () => {
    const { failure } = await runToFailure("--run", "--url", adminUrl(database), "--server", owner);
    expect(failure).toBeInstanceOf(OperatorError);
    expect(failure.message).toContain("Name another role with --server");
    const memberships = await withClient(adminUrl("postgres"), (client) =>
      client.query("select from pg_auth_members where member = $1::regrole", [owner]),
    );
    expect(memberships.rowCount).toBe(0);
  });

  test("refuses a database with tables of another application, unless it is named with --database", async () => {
    const withTable = `${database}_other`;
    const url = adminUrl(withTable);
    await asAdmin(`create database ${withTable} owner ${owner}`);
    try {
      await withClient(url, (client) => client.query("create table public.customers ()"));
      const { failure } = await runToFailure("--run", "--url", url, "--server", `${owner}_server`);
      expect(failure).toBeInstanceOf(OperatorError);
      expect(failure.message).toContain(`The database ${withTable} has tables, but none of Perch`);
      // It goes on to the next refusal.
      const named = await runToFailure("--run", "--url", url, "--database", withTable, "--owner", "another");
      expect(named.failure.message).toContain(`belongs to ${owner}`);
      const { rows } = await withClient(url, (client) =>
        client.query(
          "select datacl is null as untouched, to_regrole($1) is null as missing from pg_database where datname = $2",
          [`${owner}_server`, withTable],
        ),
      );
      expect(rows).toEqual([{ untouched: true, missing: true }]);
    } finally {
      await asAdmin(`drop database ${withTable} with (force)`);
    }
  });

  test("prints the passwords that it made although a later step fails, and never the one that it was given", async () => {
    const [maker, given] = [`prepare_maker_${suffix}`, randomBytes(12).toString("hex")];
    const roles = { owner: `${maker}_owner`, server: `${maker}_server` };
    await asAdmin(
      `create role ${maker} login createrole password '${given}'`,
      `grant perch_app, perch_platform, perch_recorder to ${maker} with admin option, inherit false, set false`,
    );
    try {
      const url = new URL(adminUrl("postgres"));
      Object.assign(url, { username: "", password: "", search: `?user=${maker}&password=${given}&sslmode=disable` });
      const names = ["--database", `${maker}_new`, "--owner", roles.owner, "--server", roles.server];
      const { failure, printed } = await runToFailure("--run", "--url", url.href, ...names);
      expect(failure).toBeInstanceOf(OperatorError);
      expect(failure.message).toContain("permission denied to create database");
      expect(printed + failure.message).not.toContain(given);
      const address = new URL(/^PERCH_DATABASE_URL=(.*)$/m.exec(printed)?.[1] ?? "nothing was printed");
      expect(address.search).toBe("?sslmode=disable");
      address.pathname = "/postgres";
      const { rows } = await withClient(address.href, (client) => client.query("select current_user as role"));
      expect(rows).toEqual([{ role: roles.server }]);
    } finally {
      await asAdmin(...[roles.server, roles.owner].map((role) => `drop role if exists ${role}`), `drop role ${maker}`);
    }
  });
});
