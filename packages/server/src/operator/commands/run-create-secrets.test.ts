import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { Redis } from "iovalkey";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readConfig } from "../../config/config.ts";
import { serveEndpoint } from "../../engine/serve-endpoint.ts";
import { createLogger } from "../../platform/logger.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import { housekeepingService } from "../../workflows/housekeeping.ts";
import { runCreateSecrets } from "./run-create-secrets.ts";

const folder = mkdtempSync(join(tmpdir(), "perch-secrets-"));
let count = 0;
let dir: string;

beforeEach(() => {
  dir = join(folder, String(++count));
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true }));

async function create(...args: string[]): Promise<string[]> {
  const log = vi.spyOn(console, "log").mockReturnValue(undefined);
  await runCreateSecrets(["--dir", dir, ...args]);
  return log.mock.calls.splice(0).flat().map(String);
}

const read = (file: string): string => readFileSync(join(dir, file), "utf8");
const readAll = () => Object.fromEntries(readdirSync(dir).map((file) => [file, read(file)]));

describe("perch-server create-secrets", () => {
  test("creates every secret once: a second run leaves each file and reports it", async () => {
    expect(await create()).toEqual(Array(11).fill(expect.stringMatching(/^created /)));
    const before = readAll();
    expect(Object.keys(before)).toHaveLength(12);
    // The folder may be in a repository.
    expect(before[".gitignore"]).toBe("*\n");
    expect(await create()).toEqual(Array(11).fill(expect.stringMatching(/^kept /)));
    expect(readAll()).toEqual(before);
  });

  test("prints no secret", async () => {
    const printed = (await create()).join("\n");
    for (const text of Object.values(readAll())) expect(printed).not.toContain(text.trim());
  });

  test("replaces only a file that is missing, and makes it from the password that is there", async () => {
    await create();
    const { "database-url": url, ...others } = readAll();
    rmSync(join(dir, "database-url"));
    expect((await create()).filter((line) => line.startsWith("created"))).toEqual([
      expect.stringContaining("database-url"),
    ]);
    expect(readAll()).toEqual({ ...others, "database-url": url });
  });

  test("makes no new password beside an address that holds the old one", async () => {
    await create();
    rmSync(join(dir, "server-password"));
    const before = readAll();
    await expect(create()).rejects.toThrow("Put server-password back");
    expect(readAll()).toEqual(before);
  });

  test("allows only the owner into the folder, and every container to read its own file, whatever the umask is", async () => {
    const umask = process.umask(0o077);
    try {
      await create();
    } finally {
      process.umask(umask);
    }
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(dir)) expect(statSync(join(dir, file)).mode & 0o777, file).toBe(0o644);
  });

  test("refuses a folder that others can enter, and an empty file, with advice", async () => {
    mkdirSync(dir);
    chmodSync(dir, 0o755);
    await expect(create()).rejects.toThrow("chmod 700");
    expect(readdirSync(dir)).toEqual([]);
    chmodSync(dir, 0o700);
    writeFileSync(join(dir, "master-key"), "");
    await expect(create()).rejects.toThrow(OperatorError);
    await expect(create()).rejects.toThrow("Delete it");
  });

  test("the files are settings of the server", async () => {
    await create("--database-host", "db.internal", "--valkey-host", "cache.internal:6380");
    const config = readConfig({
      PERCH_MASTER_KEY_FILE: join(dir, "master-key"),
      PERCH_DATABASE_URL_FILE: join(dir, "database-url"),
      PERCH_MIGRATION_DATABASE_URL_FILE: join(dir, "migration-database-url"),
      PERCH_VALKEY_URL_FILE: join(dir, "valkey-url"),
      PERCH_RESTATE_IDENTITY_KEYS_FILE: join(dir, "engine-public-key"),
    });
    expect(config.databaseUrl).toBe(`postgres://perch_server:${read("server-password").trim()}@db.internal/perch`);
    expect(config.migrationDatabaseUrl).toContain(`postgres://perch_owner:${read("owner-password").trim()}@`);
    expect(config.valkeyUrl).toBe(`redis://:${read("valkey-password").trim()}@cache.internal:6380`);
    expect(config.identityKeys).toEqual([read("engine-public-key").trim()]);
  });

  test("Valkey accepts its file, and then refuses clients without the password", async () => {
    const port = await freePort();
    await create("--valkey-host", `127.0.0.1:${port}`);
    const args = [join(dir, "valkey.conf"), "--port", String(port), "--bind", "127.0.0.1", "--save", ""];
    const child = spawn("valkey-server", args, { stdio: "ignore" });
    const ping = async (url: string) => {
      const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, enableReadyCheck: false });
      client.on("error", () => undefined);
      try {
        await client.connect();
        return await client.ping();
      } finally {
        client.disconnect();
      }
    };
    try {
      await vi.waitFor(async () => expect(await ping(read("valkey-url").trim())).toBe("PONG"), { timeout: 10_000 });
      await expect(ping(`redis://127.0.0.1:${port}`)).rejects.toThrow("NOAUTH");
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });

  test("the engine signs with its private key, and a worker with the public key accepts that engine only", async () => {
    await create();
    const engine = await startRestate(1, 1, {
      RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: join(dir, "engine-private-key.pem"),
    });
    const ours = read("engine-public-key").trim();
    dir = `${dir}-other`;
    await create();
    const register = async (identityKey: string): Promise<number> => {
      const endpoint = await serveEndpoint({
        services: [housekeepingService({ now: async () => 0, steps: [] })],
        identityKeys: [identityKey],
        host: "127.0.0.1",
        port: 0,
        release: "1.0.0",
        describe: () => ({}),
        logger: createLogger("silent"),
      });
      const body = JSON.stringify({ uri: `http://127.0.0.1:${endpoint.port}/releases/1.0.0/1` });
      const headers = { "content-type": "application/json" };
      const { status } = await fetch(`${engine.adminUrls[0]}/deployments`, { method: "POST", headers, body });
      await endpoint.close();
      return status;
    };
    try {
      expect(await register(ours)).toBe(201);
      expect(await register(read("engine-public-key").trim())).toBeGreaterThanOrEqual(400);
    } finally {
      await engine.stop();
    }
  });
});
