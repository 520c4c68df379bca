import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchBrowser, openContext, watch } from "@perch/testkit/console/browser.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

const main = join(import.meta.dirname, "../../packages/cli/src/main.ts");
const cwd = mkdtempSync(join(tmpdir(), "perch-dev-console-"));
const linkPattern = /http:\/\/127\.0\.0\.1:\d+\/console\/sign-in#link=\S+/;

let child: ChildProcess;
let link: string;
let browser: Browser;

/** Starts `perch dev` and returns the address that it prints for the browser. */
async function startDev(): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PERCH_")));
  const args = [main, "dev", "--no-open", "--port", String(await freePort())];
  child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const [found] = linkPattern.exec(output) ?? [];
      if (found && output.includes("Perch is ready")) resolve(found);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) => reject(new Error(`perch dev ended with ${code}:\n${output}`)));
  });
}

beforeAll(async () => {
  [link, browser] = await Promise.all([startDev(), launchBrowser()]);
}, 180_000);
afterAll(async () => {
  await browser?.close();
  child.removeAllListeners("exit");
  if (child.exitCode === null) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  rmSync(cwd, { recursive: true, force: true });
});

test("the address that perch dev prints signs a browser in, leaves the address at once, and works once", async () => {
  const { origin } = new URL(link);
  const context = await openContext(browser, origin);
  const page = await context.newPage();
  const seen = watch(page);
  await page.goto(link);
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  expect(page.url()).not.toContain("link=");
  expect(seen.complaints).toEqual([]);
  const second = await openContext(browser, origin);
  const tab = await second.newPage();
  await tab.goto(link);
  await tab.getByRole("alert").waitFor();
  expect((await second.request.get(`${origin}/v1/me`)).status()).toBe(401);
  await second.close();
  await context.close();
});

test("perch dev answers no other host, whatever name leads to it", async () => {
  const { hostname, port } = new URL(link);
  const statusFor = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request({ hostname, port, path: "/console/", headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on("error", reject).end();
    });
  expect(await statusFor(`127.0.0.1:${port}`)).toBe(200);
  expect(await statusFor(`localhost:${port}`)).toBe(200);
  expect(await statusFor(`evil.test:${port}`)).toBeGreaterThanOrEqual(400);
});
