import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createScratchDatabase, type ScratchDatabase } from "../../scripts/testbed/scratch-database.ts";
import { runCommand, type ServerProcess, startServer } from "../../scripts/testbed/server-process.ts";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const quiet = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

const document = JSON.parse(readFileSync(join(import.meta.dirname, "../../packages/contract/openapi.json"), "utf8"));
const summaries = Object.values<Record<string, { summary: string }>>(document.paths).flatMap((path) =>
  Object.values(path).map(({ summary }) => summary),
);

let database: ScratchDatabase;
let server: ServerProcess;
let browser: Browser;

beforeAll(async () => {
  if (!executablePath) throw new Error("No Chromium on this machine: apt-get install chromium");
  database = await createScratchDatabase();
  await runCommand(database, ["migrate"]);
  server = await startServer(database);
  browser = await chromium.launch({ executablePath, args: quiet });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await database?.drop();
});

test("/docs shows every operation in a real browser, and asks no other host for anything", async () => {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  await page.goto(`${server.url}/docs`);
  await page.getByRole("heading", { name: "Perch", level: 1 }).waitFor();
  for (const summary of summaries)
    await page.getByText(summary, { exact: true }).first().waitFor({ state: "attached" });
  await page.screenshot({ path: process.env.PERCH_SCREENSHOT ?? "/dev/null", type: "png" });
  const outside = asked.filter(
    (url) => !url.startsWith(server.url) && !url.startsWith("data:") && !url.startsWith("blob:"),
  );
  expect(summaries.length).toBeGreaterThan(10);
  expect(asked.length).toBeGreaterThan(2);
  expect(outside).toEqual([]);
  expect(complaints).toEqual([]);
});
