import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RestateCluster, startRestate } from "../../scripts/testbed/restate-process.ts";
import { createScratchDatabase, type ScratchDatabase } from "../../scripts/testbed/scratch-database.ts";
import { freePort, runCommand, type ServerProcess, startServer } from "../../scripts/testbed/server-process.ts";
import { commandBlocks, withoutVariables } from "./markdown-commands.ts";

const folder = join(import.meta.dirname, "../../docs/guides");
const separator = "=== end of block ===";

let database: ScratchDatabase;
let engine: RestateCluster;
let server: ServerProcess;
beforeAll(async () => {
  database = await createScratchDatabase();
  engine = await startRestate();
  await runCommand(database, ["migrate"]);
  const settings = {
    PERCH_RESTATE_INGRESS_URL: engine.ingressUrls.join(","),
    PERCH_RESTATE_ADMIN_URL: engine.adminUrls.join(","),
    PERCH_WORKER_PORT: "0",
    PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
  };
  server = await startServer(database, settings, "all");
});
afterAll(async () => {
  await server?.stop();
  await engine?.stop();
  await database?.drop();
});

/** What each block of a page prints. */
async function outputsOf(page: string) {
  const blocks = commandBlocks(readFileSync(join(folder, page), "utf8"));
  const apiKey = await runCommand(database, ["create-organisation", "--name", page, "--tier", "pro"]);
  const script = blocks.map(({ commands }) => `${commands}\necho; echo '${separator}'`).join("\n");
  const env = { ...process.env, PERCH_URL: server.url, PERCH_API_KEY: apiKey, PORT: String(await freePort()) };
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { env });
  const outputs = stdout.split(separator).map((output) => output.trim());
  return blocks.map((block, i) => ({ ...block, output: outputs[i] ?? "" }));
}

test("shipping a change safely goes as the guide says", async () => {
  const blocks = await outputsOf("ship-a-change-safely.md");
  expect(blocks.length).toBeGreaterThan(10);
  for (const { commands, answer, output } of blocks)
    if (answer !== undefined) expect(withoutVariables(JSON.parse(output)), commands).toEqual(withoutVariables(answer));
  const outputs = blocks.map(({ output }) => output);
  expect(outputs[1]).toBe("This is one.");
  expect(outputs[3]).toBe("active");
  expect(outputs[4]).toBe("This is one.");
  expect(outputs[7]).toBe("active");
  expect(outputs[8]).toMatch(/This is (one|two)\./);
  expect(outputs[9]).toBe("This is two.");
  expect(outputs[10]).toBe("v1\nThis is one.");
  expect(outputs[11]?.split("\n")).toEqual([
    '"version":"v1","status":"active"',
    '"version":"v2","status":"rolled_back"',
    '"version":"v1","status":"superseded"',
  ]);
});

test("logs and metrics are as the guide says", async () => {
  const blocks = await outputsOf("logs-and-metrics.md");
  expect(blocks.length).toBeGreaterThan(4);
  for (const { commands, answer, output } of blocks)
    if (answer !== undefined) expect(withoutVariables(JSON.parse(output)), commands).toEqual(withoutVariables(answer));
  const [, , , timeline, metrics] = blocks.map(({ output }) => output);
  expect(timeline).toContain('"message":"Stock is low"');
  expect(metrics).toBe('"metric":"throughput","granularity":"1h"');
});

test("memory is as the guide says", async () => {
  const blocks = await outputsOf("memory.md");
  expect(blocks.length).toBeGreaterThan(8);
  for (const { commands, answer, output } of blocks)
    if (answer !== undefined) expect(withoutVariables(JSON.parse(output)), commands).toEqual(withoutVariables(answer));
  const outputs = blocks.map(({ output }) => output);
  expect(outputs[3]).toBe('"content":"Breakfast is served until ten."');
  expect(outputs[4]?.split("\n")).toEqual(['"message":"Recalled 2 memories"', '"type":"memory"']);
  expect(outputs[5]?.split("\n")).toEqual([
    '"content":"User: Is there cake with nuts?\\nAgent: Is there cake with nuts?"',
    '"content":"Ada is allergic to nuts."',
  ]);
});

test("webhooks arrive as the guide says", async () => {
  const blocks = await outputsOf("webhooks.md");
  expect(blocks.length).toBeGreaterThan(6);
  for (const { commands, answer, output } of blocks)
    if (answer !== undefined) expect(withoutVariables(JSON.parse(output)), commands).toEqual(withoutVariables(answer));
  const [, , received, , refused, redelivered, rotated, events] = blocks.map(({ output }) => output);
  expect(received).toBe("agent.completed Hello there");
  expect(refused).toMatch(/^"error":"The connection was refused/);
  expect(redelivered).toBe("webhook.test");
  expect(rotated).toBe('"secret":"whsec_');
  expect(events).toBe('"response":"Hello there"');
});
