import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Installation, startInstallation } from "@perch/testkit/installation/installation.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { specifiedOperations } from "../walk/sections/operations.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

let folder: string;
let perch: Installation;
let apiKey: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perch-generated-client-"));
  perch = await startInstallation();
  apiKey = await perch.createOrganisation("Acme");
}, 240_000);
afterAll(async () => {
  await perch?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A folder that contains only the generated client and the program that uses it. */
async function generateClient(): Promise<void> {
  const document = join(root, "packages/contract/openapi.json");
  const files = ["--input", document, "--output", join(folder, "perch.ts")];
  const options = ["--client", "fetch", "--mode", "single", "--fail-on-warnings"];
  await run(join(root, "node_modules/.bin/orval"), [...files, ...options], { cwd: folder });
  copyFileSync(join(root, "spec/generated-client/eighteen-operations.ts"), join(folder, "eighteen-operations.ts"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const compilerOptions = {
    lib: ["es2024", "dom", "dom.iterable"],
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
}

test("a client that a common generator makes of the OpenAPI document type-checks and runs all 18 operations", async () => {
  await generateClient();
  const checked = await run(join(root, "node_modules/.bin/tsc"), ["--noEmit", "-p", folder]).catch(
    ({ stdout }: { stdout: string }) => ({ stdout }),
  );
  expect(checked.stdout).toBe("");
  const env = { PATH: process.env.PATH, PERCH_URL: perch.url, PERCH_API_KEY: apiKey };
  const { stdout } = await run(process.execPath, [join(folder, "eighteen-operations.ts")], { env });
  const done = stdout.trim().split("\n");
  expect(done, stdout).toHaveLength(specifiedOperations.length);
  expect(new Set(done.map((line) => line.split(":")[0])).size).toBe(18);
}, 240_000);
