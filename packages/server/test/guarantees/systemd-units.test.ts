import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, waitUntilReady } from "@perch/testkit/installation/server-process.ts";
import { afterAll, describe, expect, test } from "vitest";
import { knownVariables } from "../../src/config/config.ts";
import { createTestDatabase } from "../support/test-database.ts";

/** The units of deploy/systemd, as far as they can be tested without systemd. */
const root = join(import.meta.dirname, "../../../..");
const unitsDir = join(root, "deploy/systemd");
const units = readdirSync(unitsDir).filter((name) => name.endsWith(".service"));
const folder = mkdtempSync(join(tmpdir(), "perch-units-"));
afterAll(() => rmSync(folder, { recursive: true }));

const release = "0.0.0-test";
const read = (unit: string) => readFileSync(join(unitsDir, unit), "utf8");

/** The values of a directive, in order. */
const valuesOf = (text: string, directive: string): string[] =>
  [...text.matchAll(new RegExp(`^${directive}=(.*)$`, "gm"))].map(([, value = ""]) => value);

/** From the comment that introduces it to the end of the section. */
const hardening = (text: string) =>
  text.match(/^# The process has no rights[\s\S]*?(?=\n\n|\n?$(?![\s\S]))/m)?.[0] ?? "";

/** A release as `npm install --prefix` leaves it, whose program is this checkout. */
function installRelease(): string {
  const bin = join(folder, release, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  const program = join(bin, "perch-server");
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${join(root, "packages/server/src/main.ts")} "$@"\n`);
  chmodSync(program, 0o755);
  return folder;
}
const prefix = installRelease();

/** systemd-analyze looks for the program, which is elsewhere here. */
function writeUnit(unit: string): string {
  const path = join(folder, unit.replace("@.", `@${release}.`));
  writeFileSync(path, read(unit).replaceAll("/opt/perch/", `${prefix}/`));
  return path;
}

async function analyze(...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)("systemd-analyze", ["--no-pager", ...args], {
    timeout: 20_000,
  }).catch((error: NodeJS.ErrnoException & { stdout?: string; stderr?: string }) => {
    if (error.code === "ENOENT") throw new Error("systemd-analyze is missing. On Debian: apt-get install systemd");
    throw new Error(`systemd-analyze ${args.join(" ")}: ${error.stdout}${error.stderr}`);
  });
  return stdout + stderr;
}

test("there is a unit for each role, and one that migrates", () => {
  const roles = units.map((unit) => valuesOf(read(unit), "ExecStart")[0]?.split(" ").slice(1).join(" "));
  expect(roles.toSorted()).toEqual(["all", "migrate --activate-release", "serve", "work"]);
});

test("all units give a process the same few rights", () => {
  const [first = "", ...others] = units.map((unit) => hardening(read(unit)));
  expect(first.split("\n").length).toBeGreaterThan(25);
  for (const other of others) expect(other).toBe(first);
});

describe.each(units)("%s", (unit) => {
  const text = read(unit);

  test("systemd understands every line", async () => {
    expect(await analyze("verify", "--man=no", writeUnit(unit))).toBe("");
  });

  test("systemd rates its exposure at 1.5 or less of 10", async () => {
    const said = await analyze("security", "--offline=true", "--threshold=15", writeUnit(unit));
    expect(said).toMatch(/Overall exposure level for .*: \d\.\d/);
  });

  test("every secret is a credential and every PERCH_ name a setting", () => {
    const credentials = valuesOf(text, "LoadCredential").map((value) => value.split(":"));
    const variables = valuesOf(text, "Environment").filter((value) => value.startsWith("PERCH_"));
    expect(credentials.length).toBeGreaterThanOrEqual(3);
    for (const [name, path] of credentials) expect(path).toBe(`/etc/perch/secrets/${name}`);
    expect(variables.map((value) => value.split("=")[1])).toEqual(credentials.map(([name]) => `%d/${name}`));
    expect(
      variables.map((value) => value.split("=")[0]).filter((name) => !knownVariables.includes(name ?? "")),
    ).toEqual([]);
  });

  test("a process that runs agents has as long to stop as its runs may take", () => {
    const stops = valuesOf(text, "TimeoutStopSec");
    const role = valuesOf(text, "ExecStart")[0]?.split(" ")[1] ?? "";
    expect(stops).toEqual({ all: ["18min"], work: ["18min"], serve: ["75s"] }[role] ?? []);
  });
});

describe("the commands of the units", () => {
  const credentialsDir = join(folder, "credentials");
  const running: ChildProcess[] = [];
  afterAll(async () => {
    for (const child of running) if (child.exitCode === null && child.kill("SIGKILL")) await once(child, "exit");
  });

  /** As systemd starts it: only the unit's environment, no capabilities, and no way to new rights. */
  function start(unit: string, environmentFile: NodeJS.ProcessEnv): ChildProcess {
    const fill = (value: string) =>
      value.replaceAll("/opt/perch/%i", join(prefix, release)).replaceAll("%d", credentialsDir);
    const text = read(unit);
    const given = valuesOf(text, "Environment").map((value) => fill(value).split("=") as [string, string]);
    const [program = "", ...args] = fill(valuesOf(text, "ExecStart")[0] ?? "").split(" ");
    const confined = [
      "--no-new-privs",
      ...(process.getuid?.() === 0 ? ["--bounding-set=-all", "--inh-caps=-all"] : []),
    ];
    const env = { ...Object.fromEntries(given), ...environmentFile };
    const child = spawn("setpriv", [...confined, program, ...args], { env, stdio: ["ignore", "ignore", "inherit"] });
    running.push(child);
    return child;
  }

  test("an empty database is migrated and served with the settings of the units, and nothing else", async () => {
    const database = await createTestDatabase({ empty: true });
    const secrets = {
      "master-key": randomBytes(32).toString("base64"),
      "database-url": database.appUrl,
      "migration-database-url": database.ownerUrl,
      "valkey-url": process.env.PERCH_VALKEY_URL ?? "redis://127.0.0.1:6379",
    };
    mkdirSync(credentialsDir, { mode: 0o700 });
    for (const [name, value] of Object.entries(secrets))
      writeFileSync(join(credentialsDir, name), `${value}\n`, { mode: 0o400 });
    const port = await freePort();
    const environmentFile = { PERCH_PORT: String(port), PERCH_LOG_LEVEL: "error" };
    const migrated = (await once(start("perch-migrate@.service", environmentFile), "exit")) as [number | null];
    expect(migrated[0]).toBe(0);
    const serving = start("perch-serve@.service", environmentFile);
    await waitUntilReady(`http://127.0.0.1:${port}`, serving, 30);
    serving.kill("SIGTERM");
    expect((await once(serving, "exit"))[0]).toBe(0);
    await database.drop();
  });
});

test("the manual's files of settings name only settings that exist", () => {
  const pages = ["install.md", "upgrade.md"].map((page) => readFileSync(join(root, "docs/operations", page), "utf8"));
  const names = pages.flatMap((page) => [...page.matchAll(/^\s*(PERCH_\w+)=/gm)].map(([, name = ""]) => name));
  expect(names.length).toBeGreaterThanOrEqual(10);
  expect(names.filter((name) => !knownVariables.includes(name))).toEqual([]);
});
