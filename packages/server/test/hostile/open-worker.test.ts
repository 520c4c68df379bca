import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { serverMain } from "@perch/testkit/installation/server-main.ts";
import { describe, expect, test } from "vitest";
import { refuseOpenWorker } from "../../src/config/engine-settings.ts";

const closed = { identityKeys: [], workerNetworkClosed: false };

describe("a worker without identity keys", () => {
  test.each(["0.0.0.0", "::", "10.0.0.7", "fd12::7", "192.168.1.2", "worker-1.internal", "0"])(
    "does not start on %s, and the message names the remedy",
    (workerHost) => {
      const start = () => refuseOpenWorker({ ...closed, workerHost });
      expect(start).toThrow("set PERCH_RESTATE_IDENTITY_KEYS");
      expect(start).toThrow("PERCH_WORKER_NETWORK_CLOSED=true");
    },
  );

  test.each(["127.0.0.1", "127.8.8.8", "::1", "localhost"])("starts on %s", (workerHost) => {
    expect(() => refuseOpenWorker({ ...closed, workerHost })).not.toThrow();
  });

  test("starts anywhere with a key, or if the operator declares that the network is closed", () => {
    const workerHost = "0.0.0.0";
    expect(() => refuseOpenWorker({ ...closed, workerHost, identityKeys: ["publickeyv1_a"] })).not.toThrow();
    expect(() => refuseOpenWorker({ ...closed, workerHost, workerNetworkClosed: true })).not.toThrow();
  });

  test.each([
    ["work", true],
    ["all", true],
    ["serve", false],
  ])("perch-server %s: refused before anything is connected: %s", async (role, isRefused) => {
    // Nothing listens there, so a process that goes on fails with another message.
    const env = {
      PATH: process.env.PATH,
      PERCH_DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
      PERCH_MASTER_KEY: randomBytes(32).toString("base64"),
      PERCH_WORKER_HOST: "0.0.0.0",
      PERCH_LOG_LEVEL: "silent",
    };
    const failed = (await promisify(execFile)(process.execPath, [serverMain, role], { env, timeout: 20_000 }).catch(
      (error: unknown) => error,
    )) as { code: number; stderr: string };
    expect(failed.stderr.includes("PERCH_WORKER_HOST is 0.0.0.0")).toBe(isRefused);
    expect(failed.code).toBe(isRefused ? 2 : 1);
  });
});
