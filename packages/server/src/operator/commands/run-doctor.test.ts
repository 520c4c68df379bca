import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { useInstallation } from "../../../test/support/installation.ts";
import { startSilentNode } from "../../../test/support/silent-node.ts";
import { version } from "../../platform/version.ts";

const installation = useInstallation();
const main = join(import.meta.dirname, "../../main.ts");

/** As an operator runs it, with no setting but these. */
async function runDoctor(change: NodeJS.ProcessEnv, ...args: string[]) {
  const env = { PATH: process.env.PATH, ...installation().settings(change) };
  const startedAt = performance.now();
  const ended = await promisify(execFile)(process.execPath, [main, "doctor", ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
  return { ...ended, seconds: (performance.now() - startedAt) / 1000 };
}

describe("perch-server doctor", () => {
  test("prints one line for each check and a summary, and exits with 0 although there is a warning", async () => {
    const { code, stdout, stderr } = await runDoctor({});
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines[1]).toMatch(/^ok {6}database: PostgreSQL 17\.\d+ at 127\.0\.0\.1:\d+, database perch_scratch_\w+$/);
    expect(lines.slice(-2)).toEqual([
      expect.stringMatching(/^warning workers: No worker is registered/),
      "14 checks: none failed, 1 with a warning.",
    ]);
    expect(lines).toHaveLength(15);
  });

  test("exits with 1 if something failed", async () => {
    const { code, stdout } = await runDoctor({ PERCH_DATABASE_URL: "postgres://perch_server:x@127.0.0.1:1/perch" });
    expect(code).toBe(1);
    expect(stdout).toContain("\nFAILED  database: PostgreSQL does not answer at 127.0.0.1:1");
    expect(stdout).toContain("\n14 checks: 1 failed, 1 with a warning, 6 skipped.\n");
  });

  test("--json prints one object", async () => {
    const { code, stdout } = await runDoctor({ PERCH_MASTER_KEY: "short" }, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      version,
      ok: false,
      checks: expect.arrayContaining([
        { name: "settings", status: "failed", message: expect.stringContaining("PERCH_MASTER_KEY must be 32 bytes") },
        { name: "master key", status: "skipped", message: "the master keys cannot be read: see settings" },
      ]),
    });
  });

  test("names the silent part while it waits, and ends", async () => {
    const silent = await startSilentNode();
    const url = `postgres://perch_server:x@${new URL(silent.url).host}/perch`;
    const { code, stderr, seconds } = await runDoctor({ PERCH_DATABASE_URL: url, PERCH_MIGRATION_DATABASE_URL: url });
    silent.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^waiting for: database, clock, .*master key$/m);
    expect(seconds).toBeLessThan(15);
  });

  test("an option that it does not have is refused, with its usage", async () => {
    const { code, stderr } = await runDoctor({}, "--fix");
    expect(code).toBe(2);
    expect(stderr).toContain("Usage: perch-server doctor [options]");
  });
});
