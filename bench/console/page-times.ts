import { openContext, until } from "@perch/testkit/console/browser.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";

/** The factors by which a slower machine and network delay a page. */
export interface Throttle {
  readonly cpu: number;
  readonly latencyMs: number;
  readonly downKilobits: number;
  readonly upKilobits: number;
}

/** WebPageTest's profile "3G Fast": 1.6 Mbit/s down, 768 kbit/s up, 150 ms round trip. */
export const fast3g: Throttle = { cpu: 4, latencyMs: 150, downKilobits: 1600, upKilobits: 768 };
/** The preset of Chromium's developer tools that was called "Fast 3G" and is "Slow 4G" now. Its latency is that of each request. */
export const devToolsFast3g: Throttle = { cpu: 4, latencyMs: 562.5, downKilobits: 1440, upKilobits: 675 };

async function throttle(page: Page, { cpu, latencyMs, downKilobits, upKilobits }: Throttle): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: latencyMs,
    downloadThroughput: (downKilobits * 1000) / 8,
    uploadThroughput: (upKilobits * 1000) / 8,
  });
  await session.send("Emulation.setCPUThrottlingRate", { rate: cpu });
}

/** Notes when the first run is in the list and painted, clicks on it, and notes when its page is there; from the start of the navigation. */
const noteTimes = `
  const each = (check) => { if (!check()) requestAnimationFrame(() => each(check)); };
  const clickFirstRow = () => {
    window.firstRowAt = performance.now();
    document.querySelector("tr[data-index='0'] td").click();
    each(() => /\\/req_/.test(location.pathname) && (window.usableAt = performance.now()));
  };
  each(() => document.querySelector("tr[data-index='0'] a") && (requestAnimationFrame(clickFirstRow), true));`;

export interface PageTimes {
  readonly firstRowMs: number;
  /** Until a click on the first row has opened its run. */
  readonly usableMs: number;
}

async function timePage(context: BrowserContext, conditions: Throttle | undefined): Promise<PageTimes> {
  const page = await context.newPage();
  await page.addInitScript(noteTimes);
  if (conditions) await throttle(page, conditions);
  await page.goto("/console/runs", { waitUntil: "commit" });
  const usableMs = await until<number>(page, "window.usableAt", 60_000);
  const firstRowMs = await page.evaluate<number>("window.firstRowAt");
  await page.close();
  return { firstRowMs, usableMs };
}

/** Opens the list of runs with an empty cache, each time in a new browser profile that is signed in. */
export async function timeColdPages(
  browser: Browser,
  url: string,
  apiKey: string,
  { count, conditions }: { readonly count: number; readonly conditions?: Throttle },
): Promise<PageTimes[]> {
  const times: PageTimes[] = [];
  for (let load = 0; load < count; load++) {
    const context = await openContext(browser, url, { apiKey });
    context.setDefaultTimeout(60_000);
    times.push(await timePage(context, conditions));
    await context.close();
  }
  return times;
}

/** Goes from the agents to the list of runs and back, in a console that is open: from the click to the first rows. */
export async function timeListInOpenConsole(page: Page, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let load = 0; load < count; load++) {
    await page.goto("/console/agents");
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await page.waitForTimeout(300);
    times.push(
      await page.evaluate<number>(`new Promise((resolve) => {
        const startedAt = performance.now();
        const look = () => {
          if (document.querySelector("tr[data-index='0'] a")) requestAnimationFrame(() => resolve(performance.now() - startedAt));
          else requestAnimationFrame(look);
        };
        document.querySelector("nav a[href^='/console/runs']").click();
        look();
      })`),
    );
  }
  return times;
}
