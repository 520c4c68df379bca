import { createTabs, follow, launchBrowser, type Watch, watch } from "@perch/testkit/console/browser.ts";
import type { StoryPage } from "@perch/testkit/console/stories/told.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { hostileAccess } from "./hostile/access.ts";
import { hostileDecide } from "./hostile/decide.ts";
import { hostile, longWord, markup } from "./hostile/hostile-area.ts";
import { hostileInstallation } from "./hostile/installation.ts";
import { hostileLogs } from "./hostile/logs.ts";
import { hostileMemory } from "./hostile/memory.ts";
import { hostileMetrics } from "./hostile/metrics.ts";
import { hostileSettings } from "./hostile/settings.ts";
import { hostileShip } from "./hostile/ship.ts";
import { hostileWebhooks } from "./hostile/webhooks.ts";

const server = inject("consoleServer");

const areas = [
  hostileShip,
  hostileMetrics,
  hostileLogs,
  hostileDecide,
  hostileMemory,
  hostileWebhooks,
  hostileAccess,
  hostileSettings,
  hostileInstallation,
];

let browser: Browser;
let tabs: ReturnType<typeof createTabs>;
const seen: Watch = { requests: [], refusals: [], complaints: [] };
let paths: Record<string, StoryPage>;

beforeAll(async () => {
  browser = await launchBrowser();
  const { apiKey, perch } = await createOrganisation(server, `<b>Hostile</b> ${markup.slice(0, 60)}`);
  const script = JSON.stringify({
    steps: [
      { reply: hostile, tool_calls: [{ name: "perch_echo", arguments: { [markup]: hostile, word: longWord } }] },
      { reply: "{message}" },
    ],
  });
  const large = JSON.stringify({ steps: [{ reply: "{message}{message}{message}{message}{message}" }] });
  await perch.agents.create({ name: "hostile", model: "perch/script", logs: "full", instructions: script });
  await perch.agents.create({ name: "large", model: "perch/script", logs: "full", instructions: large });
  await perch.agents.create({ name: "broken", model: "nobody/model", instructions: hostile });
  await perch.keys.create({ name: markup.slice(0, 60), role: "viewer" });
  const context = { user_id: markup.slice(0, 60), session_id: markup.slice(60, 120) };
  const run = await perch.agents.invoke("hostile", { message: hostile + longWord, context });
  const mebibyte = await perch.agents.invoke("large", { message: `${markup} ${"long text ".repeat(21_000)}` });
  const failed = await perch.agents.invokeInBackground("broken", { message: hostile });
  await perch.runs.wait("broken", failed.request_id).catch(() => undefined);
  const query = new URLSearchParams({ user: context.user_id, session: context.session_id });
  paths = {
    "list of agents": "/agents",
    "agent's overview": "/agents/hostile",
    definition: "/agents/hostile/definition",
    "definition with a model that does not exist": "/agents/broken/definition",
    playground: `/agents/hostile/playground?${query}`,
    "playground from a run": `/agents/hostile/playground?from=${run.request_id}`,
    "playground with hostile search": `/agents/hostile/playground?${new URLSearchParams({ version: markup, user: hostile })}`,
    "list of runs": "/runs",
    "filters of runs": `/runs?${new URLSearchParams({ user: hostile, session: markup, status: markup })}`,
    run: `/runs/hostile/${run.request_id}`,
    "run with a response of a mebibyte": `/runs/large/${mebibyte.request_id}`,
    "failed run": `/runs/broken/${failed.request_id}`,
    sessions: "/settings/sessions",
    "address with markup": `/agents/${encodeURIComponent(markup.slice(0, 40))}`,
    "sign-in with an error of its own": `/sign-in?${new URLSearchParams({ error: markup, return_to: "javascript:alert(1)" })}`,
  };
  for (const { plant } of areas) Object.assign(paths, await plant(perch));
  const options = { apiKey, userAgent: `Mozilla/5.0 ${markup.slice(0, 90)}` };
  tabs = createTabs(browser, server.url, options, (tab) => watch(tab, seen));
});
afterAll(() => browser?.close());

/** Opens one of the pages with its key. */
async function open(name: string): Promise<Page> {
  const found = paths[name];
  const page = await tabs.of(typeof found === "object" ? found.apiKey : undefined);
  await follow(page, `/console${typeof found === "object" ? found.path : found}`);
  return page;
}

/** Elements that only hostile text could have made. */
const injected = `document.querySelectorAll(
  "script:not([src]), #root script, #root img, #root iframe, #root style, #root [onerror], #root [onload], a[href^='javascript:']"
).length`;

/** Texts with a character that reverses the direction and that nothing isolates from their neighbours. */
const unisolated = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (/[\\u202A-\\u202E\\u2066-\\u2069]/.test(node.data)) {
      let element = node.parentElement;
      while (element && !/isolate|plaintext/.test(getComputedStyle(element).unicodeBidi)) element = element.parentElement;
      if (!element) found.push(node.data.slice(0, 80));
    }
  return found;
})()`;

const twoFrames = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";

/** Processor seconds of the page's thread so far. Unlike elapsed time, they do not depend on the machine's other work. */
async function busySeconds(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const { metrics } = await session.send("Performance.getMetrics");
  await session.detach();
  return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
}

describe("hostile names, messages, responses and tool results stay text", () => {
  const names = [
    "list of agents",
    "agent's overview",
    "definition",
    "definition with a model that does not exist",
    "playground",
    "playground from a run",
    "playground with hostile search",
    "list of runs",
    "filters of runs",
    "run",
    "run with a response of a mebibyte",
    "failed run",
    "sessions",
    "address with markup",
    "sign-in with an error of its own",
    ...areas.flatMap((area) => area.names),
  ];
  test.each(names)("on the page %s", async (name) => {
    const page = await open(name);
    await page.evaluate(twoFrames);
    expect(await page.evaluate(injected)).toBe(0);
    expect(await page.evaluate("window.hacked")).toBe(undefined);
    expect(await page.evaluate(unisolated)).toEqual([]);
    // A page that is busy for seconds cannot be used.
    const before = await busySeconds(page);
    await page.evaluate(twoFrames);
    expect((await busySeconds(page)) - before).toBeLessThan(1);
    // Long words wrap, and do not push the page out of the window.
    const width = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(width).toBeLessThanOrEqual(0);
    expect(seen.complaints).toEqual([]);
    expect(seen.requests.filter(({ url }) => url.origin !== server.url)).toEqual([]);
  });

  test("a run shows the markup of its message and of its tool's result as it was written", async () => {
    const page = await open("run");
    await expect.poll(() => page.locator("body").textContent()).toContain("<script>window.hacked=1</script>");
    expect(Object.keys(paths)).toEqual(names);
  });
});
