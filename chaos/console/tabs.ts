import type { BrowserContext, CDPSession, Page } from "playwright-core";
import type { TabSize } from "./judge.ts";
import { agent, numbersIn } from "./load.ts";

export interface Tab {
  readonly name: string;
  readonly page: Page;
  readonly measure: () => Promise<TabSize>;
  /** Errors that nothing caught, and loads of the page after the first. */
  readonly problems: string[];
}

async function measure(session: CDPSession): Promise<TabSize> {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const metricOf = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
  return { heapBytes: metricOf("JSHeapUsedSize"), nodes: metricOf("Nodes"), listeners: metricOf("JSEventListeners") };
}

async function openTab(
  context: BrowserContext,
  name: string,
  path: string,
  prepare?: (page: Page) => Promise<void>,
): Promise<Tab> {
  const page = await context.newPage();
  await prepare?.(page);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`${name}: ${error.message}`));
  await page.goto(path);
  page.on("load", () => problems.push(`${name}: the page was loaded again`));
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable");
  await session.send("HeapProfiler.enable");
  return { name, page, measure: () => measure(session), problems };
}

export interface TailTab extends Tab {
  /** The index of the API node that serves the stream now. */
  readonly servedBy: () => number | undefined;
  /** How often the stream was opened. */
  readonly streams: () => number;
  /** Copies all lines of the page, as a user does, and returns their numbers. */
  readonly copyNumbers: () => Promise<number[]>;
}

export async function openTail(context: BrowserContext): Promise<TailTab> {
  let servedBy: number | undefined;
  let streams = 0;
  context.on("response", (response) => {
    const headers = response.headers();
    if (!headers["content-type"]?.startsWith("text/event-stream")) return;
    servedBy = Number(headers["x-served-by"]?.replace("node-", ""));
    streams++;
  });
  const tab = await openTab(context, "tail", `/console/logs?agent=${agent}&tail=1`);
  const { page } = tab;
  await page
    .getByText("Following.")
    .waitFor()
    .catch(async (error: unknown) => {
      throw new Error(`The tail is not open: ${await page.locator("body").textContent()}`, { cause: error });
    });
  return {
    ...tab,
    servedBy: () => servedBy,
    streams: () => streams,
    copyNumbers: async () => {
      await page.bringToFront();
      await page.getByRole("button", { name: "Copy lines" }).click();
      await page.getByText("Copied", { exact: true }).waitFor();
      return numbersIn(await page.evaluate<string>("navigator.clipboard.readText()"));
    },
  };
}

const minCharts = 2;

export interface MetricsTab extends Tab {
  /** When the page was given metrics, by its clock. */
  readonly refreshedMs: readonly number[];
  readonly nowMs: () => number;
  /** Advances the clock of the page by this much at once. */
  readonly skip: (ms: number) => Promise<void>;
}

/** The charts of the agent, which follow its runs. */
export async function openMetrics(context: BrowserContext): Promise<MetricsTab> {
  const tab = await openTab(context, "metrics", `/console/metrics?agent=${agent}&range=1h`, (page) =>
    page.clock.install(),
  );
  const charts = tab.page.locator("canvas:visible");
  await charts.nth(minCharts - 1).waitFor();
  let skippedMs = 0;
  const nowMs = () => performance.now() + skippedMs;
  const refreshedMs = [nowMs()];
  tab.page.on("response", (response) => {
    if (response.ok() && new URL(response.url()).pathname.includes("/metrics")) refreshedMs.push(nowMs());
  });
  return {
    ...tab,
    refreshedMs,
    nowMs,
    skip: async (ms) => {
      skippedMs += ms;
      await tab.page.clock.fastForward(ms);
    },
  };
}
