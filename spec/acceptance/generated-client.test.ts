import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { createScratchDatabase, type ScratchDatabase } from "@perch/testkit/installation/scratch-database.ts";
import { freePort, runCommand, type ServerProcess, startServer } from "@perch/testkit/installation/server-process.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { specifiedOperations } from "../walk/sections/operations.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

let folder: string;
let database: ScratchDatabase;
let engine: RestateCluster;
let server: ServerProcess;
let apiKey: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perch-generated-client-"));
  database = await createScratchDatabase();
  engine = await startRestate();
  await runCommand(database, ["migrate"]);
  apiKey = await runCommand(database, ["create-organisation", "--name", "Acme", "--tier", "pro"]);
  const settings = {
    PERCH_RESTATE_INGRESS_URL: engine.ingressUrls.join(","),
    PERCH_RESTATE_ADMIN_URL: engine.adminUrls.join(","),
    PERCH_WORKER_PORT: String(await freePort()),
  };
  server = await startServer(database, settings, "all");
}, 240_000);
afterAll(async () => {
  await server?.stop();
  await engine?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A folder with nothing of ours but the document's client and the program that uses it. */
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
  const env = { PATH: process.env.PATH, PERCH_URL: server.url, PERCH_API_KEY: apiKey };
  const { stdout } = await run(process.execPath, [join(folder, "eighteen-operations.ts")], { env });
  const done = stdout.trim().split("\n");
  expect(done, stdout).toHaveLength(specifiedOperations.length);
  expect(new Set(done.map((line) => line.split(":")[0])).size).toBe(18);
}, 240_000);
