import { launchBrowser, openContext, visit, watch } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import { startApiBalancer } from "@perch/testkit/installation/api-balancer.ts";
import { type ServerProcess, startServer } from "@perch/testkit/installation/server-process.ts";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

const server = inject("consoleServer");
const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");

let browser: Browser;
let nodes: readonly ServerProcess[];
let balancer: Awaited<ReturnType<typeof startApiBalancer>>;

beforeAll(async () => {
  browser = await launchBrowser();
  const database = { ...server.database, drop: async () => undefined };
  nodes = await Promise.all([startServer(database, server.settings), startServer(database, server.settings)]);
  balancer = await startApiBalancer(nodes.map(({ url }) => url));
});
afterAll(async () => {
  await browser?.close();
  await balancer?.stop();
  for (const node of nodes ?? []) node.child.kill("SIGKILL");
});

test("a run that streams in the playground goes on to its end when its API node is killed, without a reload", async () => {
  const { apiKey, perch } = await createOrganisation(server, "Two nodes");
  const script = JSON.stringify({ steps: [{ reply: words, word_delay_ms: 100 }] });
  await perch.agents.create({ name: "talker", model: "perch/script", instructions: script });
  const context = await openContext(browser, balancer.url, { apiKey });
  // Two more servers have just started, which takes time on a busy machine.
  context.setDefaultTimeout(40_000);
  const page = await context.newPage();
  const seen = watch(page);
  await visit(page, "/console/agents/talker/playground");
  const accepted = page.waitForResponse((response) => response.url().endsWith("/invoke"));
  await page.getByRole("textbox", { name: "Message to talker" }).fill("Tell me everything");
  await page.keyboard.press("Enter");
  const servedBy = (await (await accepted).allHeaders())["x-served-by"] ?? "";
  await page
    .getByText(/word5\b/)
    .first()
    .waitFor();
  const loads = seen.requests.filter(({ url }) => url.pathname.endsWith("/playground")).length;
  const node = nodes[Number(servedBy.replace("node-", ""))];
  if (!node) throw new Error(`No node is called ${servedBy}`);
  node.child.kill("SIGKILL");
  await page
    .getByText(/word59/)
    .first()
    .waitFor({ timeout: 30_000 });
  await page.getByText("completed").first().waitFor();
  // Every word once and in order: nothing was lost or repeated.
  expect(((await page.locator("main").textContent()) ?? "").replaceAll(/\s+/g, " ")).toContain(words);
  expect(seen.requests.filter(({ url }) => url.pathname.endsWith("/playground")).length).toBe(loads);
  // The client retried with the same key, so the agent ran once.
  const { data: runs } = await perch.request("GET /v1/invocations");
  expect(runs).toHaveLength(1);
  await context.close();
});
