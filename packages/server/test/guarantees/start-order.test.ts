import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DurablePostgres, startDurablePostgres } from "@perch/testkit/installation/durable-postgres.ts";
import { installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serverMain } from "@perch/testkit/installation/server-main.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "perch-start-order-"));
const passwords = { owner: randomBytes(12).toString("hex"), server: randomBytes(12).toString("hex") };
const running: ChildProcess[] = [];
let postgres: DurablePostgres;
let engine: RestateCluster;

beforeAll(async () => {
  for (const [name, password] of Object.entries(passwords)) writeFileSync(join(folder, name), `${password}\n`);
  [postgres, engine] = await Promise.all([startDurablePostgres(), startRestate()]);
  writeFileSync(join(folder, "superuser"), decodeURIComponent(new URL(postgres.adminUrl).password));
});
afterEach(async () => {
  for (const child of running.splice(0))
    if (child.exitCode === null && child.kill("SIGKILL")) await once(child, "exit");
});
afterAll(async () => {
  await Promise.all([postgres.drop(), engine.stop()]);
  rmSync(folder, { recursive: true });
});

function urlOf(role: string, password: string, database: string): string {
  const url = new URL(postgres.adminUrl);
  Object.assign(url, { username: role, password, pathname: `/${database}` });
  return url.href;
}

/** A database and roles that do not exist yet. */
const lateSettings = (waitSeconds: number, port = 0): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  ...installationSettings({
    database: {
      appUrl: urlOf("late_server", passwords.server, "late"),
      ownerUrl: urlOf("late_owner", passwords.owner, "late"),
    },
    engine,
    masterKey: Buffer.alloc(32, 7).toString("base64"),
  }),
  PERCH_START_WAIT_SECONDS: String(waitSeconds),
  PERCH_PORT: String(port),
  PERCH_WORKER_PORT: "0",
});

function start(args: string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [serverMain, ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
  running.push(child);
  const exited = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
  });
  return {
    child,
    exited,
    text: () => text,
    /** The dependencies that it reported to wait for, in order. */
    reasons: () =>
      text
        .split("\n")
        .filter((line) => line.includes('"waiting for the database"'))
        .map((line) => (JSON.parse(line) as { reason: string }).reason),
  };
}

const preparation = (waitSeconds: number) => [
  ...["prepare-database", "--run", "--url", urlOf("postgres", "", "postgres"), "--wait-seconds", String(waitSeconds)],
  ...["--password-file", join(folder, "superuser"), "--database", "late", "--owner", "late_owner"],
  ...["--owner-password-file", join(folder, "owner"), "--server", "late_server"],
  ...["--server-password-file", join(folder, "server")],
];

const patience = { timeout: 40_000, interval: 100 };

describe("with PERCH_START_WAIT_SECONDS, everything may start in any order", () => {
  test("each process waits for PostgreSQL, its roles, its database and its tables, and reports that every five seconds", async () => {
    await postgres.crash();
    const ports = { serve: await freePort(), all: await freePort() };
    const servers = [
      start(["serve"], lateSettings(120, ports.serve)),
      start(["all"], lateSettings(120, ports.all)),
      start(["work"], lateSettings(120)),
    ];
    const migrate = start(["migrate"], lateSettings(120));
    const waiting = [...servers, migrate];
    await vi.waitFor(() => {
      for (const { reasons, text } of waiting) expect(reasons().length, text()).toBeGreaterThanOrEqual(2);
    }, patience);
    for (const { reasons } of waiting) expect(reasons()[0]).toContain("does not answer");

    await postgres.start();
    await vi.waitFor(() => {
      for (const { reasons, text } of waiting)
        expect(reasons().at(-1), text()).toContain("perch-server prepare-database");
    }, patience);

    const prepare = start(preparation(60), {});
    expect(await prepare.exited, prepare.text()).toEqual([0, null]);
    expect(await migrate.exited, migrate.text()).toEqual([0, null]);
    await vi.waitFor(() => {
      for (const { text } of servers) expect(text()).toContain('"msg":"started"');
    }, patience);
    for (const port of Object.values(ports)) expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });

  test("prepare-database --wait-seconds waits for a PostgreSQL that does not answer, and reports that", async () => {
    await postgres.crash();
    const prepare = start(preparation(60), {});
    await vi.waitFor(
      () => expect(prepare.text()).toMatch(/Waiting \(\d+ s of 60 s\): PostgreSQL does not answer/),
      patience,
    );
    await postgres.start();
    expect(await prepare.exited, prepare.text()).toEqual([0, null]);
  });

  test("at the end of the time, a process fails with the line that it would have failed with at once", async () => {
    await postgres.crash();
    const [patient, hasty] = [start(["serve"], lateSettings(2)), start(["serve"], lateSettings(0))];
    expect((await hasty.exited)[0]).toBe(1);
    expect(hasty.text()).toMatch(/^PostgreSQL does not answer at .*\n$/);
    expect((await patient.exited)[0]).toBe(1);
    expect(patient.text().endsWith(`\n${hasty.text()}`), patient.text()).toBe(true);
    await postgres.start();
  });

  test("a fault that waiting does not repair fails at once: the role of the server owns the tables", async () => {
    const owner = start(["serve"], {
      ...lateSettings(120),
      PERCH_DATABASE_URL: urlOf("late_owner", passwords.owner, "late"),
    });
    expect((await owner.exited)[0]).toBe(1);
    expect(owner.text()).toContain("can bypass row-level security");
  });

  test.each(["serve", "migrate"])("SIGTERM ends %s at once while it waits for the database", async (command) => {
    await postgres.crash();
    const { child, exited, reasons } = start([command], lateSettings(120));
    await vi.waitFor(() => expect(reasons().length).toBe(1), patience);
    const signalledAt = performance.now();
    child.kill("SIGTERM");
    // By a handler of its own: in a container, the first process ignores a signal without one.
    expect(await exited).toEqual([143, null]);
    expect(performance.now() - signalledAt).toBeLessThan(2000);
    await postgres.start();
  });

  test("SIGTERM ends work at once while it waits for the engine, too", async () => {
    const env = { ...lateSettings(0), PERCH_RESTATE_ADMIN_URL: "http://127.0.0.1:1" };
    const { child, exited, text } = start(["work"], env);
    await vi.waitFor(() => expect(text()).toContain("worker registration failed, will retry"), patience);
    child.kill("SIGTERM");
    expect(await exited).toEqual([143, null]);
  });
});
