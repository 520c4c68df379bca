import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { asAdmin, useInstallation } from "../../../test/support/installation.ts";
import { openTestDatabase } from "../../../test/support/open-database.ts";
import { dataKeyPurposes } from "../../compose/resources.ts";
import { createDataKeys } from "../../db/data-keys.ts";
import { migrate } from "../../db/migrate.ts";
import { version } from "../../platform/version.ts";

const installation = useInstallation();

/** No worker runs here. */
const problems = async (change: NodeJS.ProcessEnv = {}) =>
  (await installation().problems(change)).filter((line) => !line.startsWith("warning workers"));

const withRole = (url: string, role: string, password: string): string => {
  const address = new URL(url);
  Object.assign(address, { username: role, password });
  return address.href;
};

const prepare = "Let a superuser run what this prints: perch-server prepare-database";

test("a database that is away is one failure, and what needs it is skipped", async () => {
  expect(await problems({ PERCH_DATABASE_URL: "postgres://perch_server:x@127.0.0.1:1/perch" })).toEqual([
    "failed database: PostgreSQL does not answer at 127.0.0.1:1 (ECONNREFUSED). Start it, or correct PERCH_DATABASE_URL.",
    ...["clock", "server role", "extensions", "migrations", "active release", "master key"].map(
      (name) => `skipped ${name}: the database was not reached`,
    ),
  ]);
});

describe("roles", () => {
  test("a wrong password is reported as such", async () => {
    const url = withRole(installation().database.appUrl, "perch_server", "wrong");
    const [first] = await problems({ PERCH_DATABASE_URL: url });
    expect(first).toMatch(
      /^failed database: .* refuses the role perch_server or its password\. Correct PERCH_DATABASE_URL/,
    );
  });

  test("a role without the rights of a server is refused, whether it may connect or not", async () => {
    const { database } = installation();
    const role = `doctor_stranger_${randomBytes(4).toString("hex")}`;
    const change = { PERCH_DATABASE_URL: withRole(database.appUrl, role, "p") };
    await asAdmin(`create role ${role} login password 'p'`);
    try {
      expect((await problems(change))[0]).toMatch(/^failed database: The role doctor_stranger_.* lacks rights/);
      await asAdmin(`grant connect on database ${new URL(database.appUrl).pathname.slice(1)} to ${role}`);
      expect(await problems(change)).toContain(
        `failed server role: The role ${role} is not a member of perch_app. ${prepare}`,
      );
    } finally {
      await asAdmin(`drop owned by ${role}`, database.adminUrl);
      await asAdmin(`drop role ${role}`);
    }
  });

  test.each([
    ["a superuser", "adminUrl"],
    ["the owner of the tables", "ownerUrl"],
  ] as const)("%s as the server's role is refused", async (_, url) => {
    expect(await problems({ PERCH_DATABASE_URL: installation().database[url] })).toEqual([
      expect.stringMatching(
        /^failed server role: The role .* can bypass row-level security\. Point PERCH_DATABASE_URL/,
      ),
    ]);
  });

  test("a superuser as the server's role is refused before there are tables", async () => {
    const { empty } = installation();
    expect(
      await problems({ PERCH_DATABASE_URL: empty.adminUrl, PERCH_MIGRATION_DATABASE_URL: empty.ownerUrl }),
    ).toEqual(expect.arrayContaining([expect.stringContaining("can bypass row-level security")]));
  });

  test("an owner's address that leads to another database, or to a role without rights, is refused", async () => {
    const { empty, database } = installation();
    expect(await problems({ PERCH_MIGRATION_DATABASE_URL: empty.ownerUrl })).toEqual([
      expect.stringMatching(/^failed owner role: .* lead to different databases/),
    ]);
    expect(await problems({ PERCH_MIGRATION_DATABASE_URL: database.appUrl })).toEqual([
      `failed owner role: The role perch_server may not migrate. ${prepare}`,
    ]);
  });

  test("a superuser as the owner is a warning", async () => {
    expect(await problems({ PERCH_MIGRATION_DATABASE_URL: installation().database.adminUrl })).toEqual([
      expect.stringMatching(/^warning owner role: The role .* is a superuser/),
    ]);
  });
});

describe("the schema", () => {
  const notMigrated = "skipped active release: the database is not migrated: see migrations";

  test("an empty database lacks its migrations, and the master key cannot be checked", async () => {
    const { appUrl, ownerUrl } = installation().empty;
    expect(await problems({ PERCH_DATABASE_URL: appUrl, PERCH_MIGRATION_DATABASE_URL: ownerUrl })).toEqual([
      expect.stringMatching(/^failed migrations: The database lacks 0001_.* more\. Run: perch-server migrate$/),
      notMigrated,
      "skipped master key: the database has no tables yet: see migrations",
    ]);
  });

  test("missing extensions are named with the statement that creates them", async () => {
    const { appUrl, ownerUrl, adminUrl } = installation().empty;
    await asAdmin("drop extension vector; drop extension btree_gin", adminUrl);
    const found = await problems({ PERCH_DATABASE_URL: appUrl, PERCH_MIGRATION_DATABASE_URL: ownerUrl });
    expect(found.filter((line) => line.includes("extensions"))).toEqual(
      ["vector", "btree_gin"].map(
        (name) =>
          `failed extensions: The extension ${name} is missing. A superuser has to run in the database: create extension if not exists ${name};`,
      ),
    );
  });

  test("a function or a migration that is missing is named, and a newer release's database is a warning", async () => {
    const { adminUrl, ownerUrl } = installation().database;
    const { rows } = await asAdmin("select max(name) as name from kysely_migration", adminUrl);
    const last = rows[0]?.name ?? "";
    const rename = (from: string, to: string) =>
      asAdmin(`update kysely_migration set name = '${to}' where name = '${from}'`, adminUrl);
    await asAdmin("delete from schema_functions where name = (select min(name) from schema_functions)", adminUrl);
    expect(await problems()).toEqual([
      expect.stringMatching(/^failed migrations: The database lacks function \w+\. Run: perch-server migrate$/),
      notMigrated,
    ]);
    await migrate(ownerUrl);
    await rename(last, "9999_later");
    expect(await problems()).toEqual([
      `failed migrations: The database lacks ${last}. Run: perch-server migrate`,
      notMigrated,
    ]);
    await rename("9999_later", last);
    await asAdmin("insert into kysely_migration (name, timestamp) values ('9999_later', '')", adminUrl);
    expect(await problems()).toEqual([
      expect.stringContaining(`warning migrations: A newer release than this one, ${version},`),
    ]);
    await asAdmin("delete from kysely_migration where name = '9999_later'", adminUrl);
    expect(await problems()).toEqual([]);
  });

  test("an active release that lists no features is a warning, with what its workers do not understand", async () => {
    const { adminUrl } = installation().database;
    await asAdmin("insert into releases (turn, release) values (1000, 'older')", adminUrl);
    expect(await problems()).toEqual([
      "warning active release: Release older takes new runs and does not understand approvals, connections, secrets, approval_floor: agents that use them get 503. Run: perch-server activate-release",
    ]);
    await asAdmin("delete from releases where turn = 1000", adminUrl);
  });
});

describe("the master key", () => {
  test("another key than the stored ones need is refused, an older one is a warning, a changed row is named", async () => {
    const { database, masterKey } = installation();
    const db = openTestDatabase(database.appUrl, 2);
    await createDataKeys(
      db.unscoped,
      { current: Buffer.from(masterKey, "base64"), previous: [] },
      dataKeyPurposes,
    ).load();
    await db.close();
    const other = randomBytes(32).toString("base64");
    expect(await problems()).toEqual([]);
    expect(await problems({ PERCH_MASTER_KEY: other })).toEqual([
      expect.stringMatching(
        /^failed master key: The data keys are encrypted with the master key .* Set PERCH_MASTER_KEY/,
      ),
    ]);
    expect(await problems({ PERCH_MASTER_KEY: other, PERCH_PREVIOUS_MASTER_KEYS: masterKey })).toEqual([
      `warning master key: ${dataKeyPurposes.length} of ${dataKeyPurposes.length} data keys are under a previous master key. Run: perch-server rotate-master-key`,
    ]);
    await asAdmin(
      "update data_keys set wrapped = overlay(wrapped placing '\\x00' from 30) where purpose = 'secrets'",
      database.adminUrl,
    );
    expect(await problems()).toEqual([
      expect.stringMatching(/^failed master key: The data key "secrets" does not open .* Restore that row/),
    ]);
  });
});
