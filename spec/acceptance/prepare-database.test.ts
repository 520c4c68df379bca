import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ScratchDatabase, serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { serverMain } from "@perch/testkit/installation/server-main.ts";
import { runCommand, startServer } from "@perch/testkit/installation/server-process.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const suffix = randomBytes(4).toString("hex");
/** Names that do harm if they are not quoted. */
const names = { database: `perch's "${suffix}"`, owner: `plain "o'${suffix}"`, server: `server $perch$ ${suffix}` };
const passwords = { owner: randomBytes(12).toString("hex"), server: `s%/${randomBytes(12).toString("hex")}` };
const folder = mkdtempSync(join(tmpdir(), "perch-prepare-"));
const passwordFile = join(folder, "password");

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const admin = () => serviceUrl("PERCH_DATABASE_ADMIN_URL");

function adminOf(database: string): string {
  const url = new URL(admin());
  url.pathname = `/${encodeURI(database)}`;
  return url.href;
}

function urlOf(role: string, password: string, database: string): string {
  const url = new URL(adminOf(database));
  url.username = encodeURIComponent(role);
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Without any setting in its environment. */
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [serverMain, "prepare-database", ...args], {
    env: { PATH: process.env.PATH },
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );

beforeAll(async () => {
  writeFileSync(passwordFile, `${passwords.server}\n`);
  await withClient(admin(), async (client) => {
    await client.query(`create role ${quoted(names.owner)} login createrole password '${passwords.owner}'`);
    // On a separate PostgreSQL the owner would create these roles itself, and then have exactly these rights over them.
    for (const role of ["perch_app", "perch_platform", "perch_recorder"])
      await client.query(`grant ${role} to ${quoted(names.owner)} with admin option, inherit false, set false`);
    // template1 already has pgvector if `pnpm services up` prepared the server.
    await client.query(`create database ${quoted(names.database)} owner ${quoted(names.owner)} template template0`);
  });
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await withClient(admin(), async (client) => {
    await client.query(`drop database ${quoted(names.database)} with (force)`);
    await client.query(`drop role if exists ${quoted(names.server)}`);
    await client.query(`drop owned by ${quoted(names.owner)} cascade`);
    await client.query(`drop role ${quoted(names.owner)}`);
  });
});

describe("perch-server prepare-database", () => {
  test("a plain owner prepares its database, except for the one statement that is printed for a superuser; then migrate and serve work", async () => {
    const ownerUrl = urlOf(names.owner, passwords.owner, names.database);
    const args = ["--run", "--url", ownerUrl, "--server", names.server, "--server-password-file", passwordFile];
    const first = await run(...args);
    expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining("A superuser has to run this once") });
    const statement = first.stderr.trimEnd().split("\n").at(-1) ?? "";
    expect(statement).toBe("create extension if not exists vector;");
    await withClient(adminOf(names.database), (client) => client.query(statement));

    const second = await run(...args);
    expect(second).toMatchObject({ code: 0, stderr: expect.stringContaining("perch-server migrate") });
    expect(second.stdout.match(/^PERCH_(MIGRATION_)?DATABASE_URL=postgres:.*:PASSWORD@/gm)).toHaveLength(2);
    for (const { stdout, stderr } of [first, second])
      for (const password of Object.values(passwords)) expect(stdout + stderr).not.toContain(password);

    const appUrl = urlOf(names.server, passwords.server, names.database);
    const database: ScratchDatabase = { ownerUrl, appUrl, adminUrl: admin(), drop: async () => undefined };
    expect(await runCommand(database, ["migrate"])).toContain("applied 0001_organisations");
    expect(await run(...args)).toMatchObject({ code: 0 });
    const key = await runCommand(database, ["create-organisation", "--name", "First"]);
    const server = await startServer(database);
    try {
      const me = await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
      expect(await me.json()).toMatchObject({ data: { organisation: { name: "First" } } });
    } finally {
      await server.stop();
    }
  });

  test("the roles have no more rights than they need", async () => {
    const { rows } = await withClient(admin(), (client) =>
      client.query(
        `select rolsuper or rolcreatedb or rolcreaterole or rolbypassrls or rolreplication as powerful,
                array(select roleid::regrole::text from pg_auth_members where member = r.oid) as "memberOf",
                has_database_privilege(r.oid, $2, 'connect') as connects,
                has_database_privilege(r.oid, $2, 'create') or has_database_privilege(r.oid, $2, 'temporary') as creates,
                (select bool_or(acl.grantee = 0) from pg_database d, aclexplode(d.datacl) as acl where datname = $2) as open
           from pg_roles r where rolname = $1`,
        [names.server, names.database],
      ),
    );
    expect(rows).toEqual([{ powerful: false, memberOf: ["perch_app"], connects: true, creates: false, open: false }]);
  });

  test("without --run prints a script for psql, with a password only if it made one", async () => {
    const made = await run("--database", names.database, "--owner", names.owner);
    const given = await run("--server-password-file", passwordFile, "--owner-password-file", passwordFile);
    expect([made.code, given.code]).toEqual([0, 0]);
    const shown = /PERCH_DATABASE_URL=postgres:\/\/perch_server:([\w-]{32})@HOST/.exec(made.stderr)?.[1] ?? "none";
    expect(made.stderr.split(shown)).toHaveLength(2);
    expect(made.stdout).not.toContain(shown);
    expect(made.stdout).toContain(`create database ${quoted(names.database).replaceAll("'", "''")} owner`);
    expect(given.stdout + given.stderr).not.toContain(passwords.server);
    expect(given.stderr).toContain("PERCH_DATABASE_URL=postgres://perch_server:PASSWORD@HOST");
    // A role that exists gets a password only if the operator gave one.
    expect([made.stdout, given.stdout].map((text) => text.includes("alter role"))).toEqual([false, true]);
  });

  test.each([
    [["--run"], "--run and --url belong together"],
    [["--run", "--url", "db.example/perch"], "postgres://postgres@db.example"],
    [["--run", "--url", "postgres://postgres:se/cret@db.example/perch"], "percent-encode its user and password"],
    [["--run", "--url", "postgres://postgres:100%cret@db.example/perch"], "percent-encode its user and password"],
    [["--run", "--url", "postgres://db.example/template1"], "template1 is a template of PostgreSQL"],
    [["--database", "template0"], "template0 is a template of PostgreSQL"],
    [["--owner", "x".repeat(64)], "--owner is a name of up to 63 bytes"],
    [["--owner", "one", "--server", "one"], "two different roles"],
    [["--server-password-file", "/nowhere"], "/nowhere cannot be read"],
  ])("refuses %s, and exits with 2", async (args, message) => {
    const ended = await run(...args);
    expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
    expect(ended.stderr).not.toContain("cret@");
  });
});
