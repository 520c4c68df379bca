import { execFile } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { promisify } from "node:util";
import { createScratchDatabase, type ScratchDatabase } from "@perch/testkit/installation/scratch-database.ts";
import { serverMain } from "@perch/testkit/installation/server-main.ts";
import { runCommand, scratchSettings, startServer } from "@perch/testkit/installation/server-process.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import server from "../../packages/server/package.json" with { type: "json" };

let empty: ScratchDatabase;
let database: ScratchDatabase;

beforeAll(async () => {
  empty = await createScratchDatabase();
  database = await createScratchDatabase();
  await runCommand(database, ["migrate"]);
});
afterAll(async () => {
  await empty.drop();
  await database.drop();
});

const run = (args: string[], env: NodeJS.ProcessEnv) =>
  promisify(execFile)(process.execPath, [serverMain, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );

describe("perch-server", () => {
  test("names the missing settings, and exits with 2", async () => {
    const { code, stderr } = await run(["serve"], { PATH: process.env.PATH });
    expect(code).toBe(2);
    expect(stderr).toContain("PERCH_DATABASE_URL");
    expect(stderr).toContain("PERCH_MASTER_KEY");
  });

  test("explains itself without any setting: help, a command's help, the version, an unknown command", async () => {
    const env = { PATH: process.env.PATH };
    expect(await run(["help"], env)).toMatchObject({ code: 0, stdout: expect.stringContaining("create-organisation") });
    const help = await run(["help", "set-tier"], env);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining("--tier TIER") });
    expect(await run(["set-tier", "--help"], env)).toEqual(help);
    expect(await run(["--version"], env)).toMatchObject({ code: 0, stdout: `${server.version}\n` });
    expect(await run(["dance"], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no command dance"),
    });
  });

  test("reports the problem of an option", async () => {
    const env = { ...process.env, ...scratchSettings(database, 0) };
    expect(await run(["create-organisation", "--tier", "gold", "--name", "x"], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("free, pro, enterprise"),
    });
    expect(await run(["create-organisation", "--colour", "red"], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--colour"),
    });
  });

  test("refuses to serve a database without its tables, and names the command to run", async () => {
    const { code, stderr } = await run(["serve"], { ...process.env, ...scratchSettings(empty, 0) });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The database lacks 0001_organisations.* Run: perch-server migrate\n$/);
  });

  test("refuses to serve as the owner of the tables, who could see every organisation", async () => {
    const env = { ...process.env, ...scratchSettings(database, 0), PERCH_DATABASE_URL: database.ownerUrl };
    const { code, stderr } = await run(["serve"], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The role .* row-level security\..*\n$/);
  });

  test("names in one line the address where no database answers, and exits with 1", async () => {
    const nowhere = "postgres://perch_server:not-shown@127.0.0.1:1/perch";
    const env = { ...process.env, ...scratchSettings(database, 0), PERCH_DATABASE_URL: nowhere };
    const remedy =
      "PostgreSQL does not answer at 127.0.0.1:1 (ECONNREFUSED). Start it, or correct PERCH_DATABASE_URL.\n";
    expect(await run(["create-organisation", "--name", "x"], env)).toEqual({ code: 1, stdout: "", stderr: remedy });
  });

  test("set-tier changes the limits of an organisation, on a running server, from the next requests on", async () => {
    const key = await runCommand(database, ["create-organisation", "--name", "Growing"]);
    const server = await startServer(database);
    const me = async () => {
      const response = await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
      const { data } = (await response.json()) as { data: { organisation: { id: string; tier: string } } };
      return { ...data.organisation, limit: response.headers.get("x-ratelimit-limit") };
    };
    const { id, ...before } = await me();
    expect(before).toMatchObject({ tier: "free", limit: "100" });
    expect(await runCommand(database, ["set-tier", "--organisation", id, "--tier", "pro"])).toContain("is pro now");
    expect((await me()).tier).toBe("pro");
    expect((await me()).limit).toBe("2000");
    const operators = await runCommand(database, ["create-key", "--organisation", id, "--role", "viewer"]);
    const found = await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${operators}` } });
    expect(((await found.json()) as { data: object }).data).toMatchObject({
      organisation: { id },
      key: { role: "viewer" },
    });
    await server.stop();
    const env = { ...process.env, ...scratchSettings(database, 0) };
    const nobody = "org_01h455vb4pex5vsknk084sn02q";
    expect(await run(["set-tier", "--organisation", nobody, "--tier", "pro"], env)).toMatchObject({
      code: 1,
      stderr: `There is no organisation ${nobody}.\n`,
    });
    expect(await run(["set-tier", "--organisation", "acme", "--tier", "pro"], env)).toMatchObject({ code: 2 });
  });

  test("on SIGTERM answers the request it has, refuses new ones, and exits with 0", async () => {
    const key = await runCommand(database, ["create-organisation", "--name", "Acme"]);
    const server = await startServer(database);
    // The head is sent and the body is not: the request is under way until the body comes.
    const body = JSON.stringify({ name: "late", model: "perch/echo" });
    const slow = request(`${server.url}/v1/agents`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "content-length": body.length },
    });
    slow.write(body.slice(0, 5));
    // A connection that never sends a request must not delay the exit.
    const mute = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => undefined);
    await once(mute, "connect");
    await fetch(`${server.url}/healthz`);
    const exited = once(server.child, "exit");
    server.child.kill("SIGTERM");
    await expect
      .poll(() =>
        fetch(`${server.url}/healthz`).then(
          () => "served",
          () => "refused",
        ),
      )
      .toBe("refused");
    slow.end(body.slice(5));
    const [response] = (await once(slow, "response")) as [{ statusCode: number; resume: () => void }];
    response.resume();
    expect(response.statusCode).toBe(201);
    const answeredAt = performance.now();
    expect((await exited)[0]).toBe(0);
    expect(performance.now() - answeredAt).toBeLessThan(10_000);
  });

  test("logs its start, its missing parts, and requests as JSON lines, without keys and passwords", async () => {
    const key = await runCommand(database, ["create-organisation", "--name", "Logged"]);
    const away = {
      PERCH_VALKEY_URL: "redis://:valkey-password@127.0.0.1:1",
      PERCH_RESTATE_INGRESS_URL: "http://127.0.0.1:2",
    };
    let log = "";
    const server = await startServer(database, { PERCH_LOG_LEVEL: "info", ...away }, "serve", (text) => {
      log += text;
    });
    await fetch(`${server.url}/v1/agents/nobody?x=${key}`, {
      headers: { authorization: `Bearer ${key}`, "x-correlation-id": "trace-me" },
    });
    await server.stop();
    const line = log.split("\n").find((text) => text.includes("trace-me")) ?? "{}";
    expect(JSON.parse(line)).toMatchObject({
      correlationId: "trace-me",
      method: "GET",
      route: "/v1/agents/:agent_id",
      status: 400,
    });
    const lines = log
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text) as Record<string, unknown>);
    const { host } = new URL(database.appUrl);
    expect(lines.filter(({ msg }) => msg === "started")).toMatchObject([
      { role: "serve", listening: { api: server.url }, database: host, engine: ["127.0.0.1:2"], valkey: "127.0.0.1:1" },
    ]);
    const missed = lines.filter(({ msg }) => msg === "dependency does not answer");
    expect(
      missed.toSorted((one, other) => String(one.dependency).localeCompare(String(other.dependency))),
    ).toMatchObject([
      { level: "warn", dependency: "engine", addresses: ["127.0.0.1:2"] },
      { level: "warn", dependency: "valkey", addresses: ["127.0.0.1:1"] },
    ]);
    for (const secret of [key, "valkey-password", new URL(database.appUrl).password]) expect(log).not.toContain(secret);
  });
});
