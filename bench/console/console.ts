import { launchBrowser, openContext } from "@perch/testkit/console/browser.ts";
import { createScratchDatabase, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { runCommand, startServer } from "@perch/testkit/installation/server-process.ts";
import { buildConsole } from "@perch/testkit/packaging/build-console.ts";
import type { Browser } from "playwright-core";
import type { Figures } from "../comparison.ts";
import { median } from "../load.ts";
import { prepareRuns } from "../run-list.ts";
import { createStops } from "../stops.ts";
import { devToolsFast3g, fast3g, type PageTimes, timeColdPages, timeListInOpenConsole } from "./page-times.ts";
import { scrollRuns } from "./scroll-frames.ts";

const sizes = { full: 1_000_000, short: 10_000 };

const p95 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
const rounded = (value: number): number => Math.round(value * 10) / 10;

function print(what: string, times: readonly number[], limitMs: number | undefined): void {
  const limit = limitMs === undefined ? "" : `, limit ${limitMs} ms${p95(times) > limitMs ? ": MISSED" : ""}`;
  console.error(`${what}: p50 ${rounded(median(times))} ms, p95 ${rounded(p95(times))} ms of ${times.length}${limit}`);
}

function printPages(what: string, times: readonly PageTimes[], limitMs: number | undefined): number {
  print(
    `${what}, first rows are visible`,
    times.map(({ firstRowMs }) => firstRowMs),
    undefined,
  );
  const usable = times.map(({ usableMs }) => usableMs);
  print(`${what}, a click has opened a run`, usable, limitMs);
  return rounded(p95(usable));
}

async function measure(browser: Browser, url: string, apiKey: string, short: boolean): Promise<Figures> {
  const context = await openContext(browser, url, { apiKey });
  const page = await context.newPage();
  // The server's own code is compiled by the first requests.
  await timeListInOpenConsole(page, 3);
  const inApp = await timeListInOpenConsole(page, 20);
  print("list of runs in an open console, first rows are visible", inApp, 300);
  const { workMs, rowsPassed, rowsInPage } = await scrollRuns(browser, page, short ? 200 : 1000);
  print(`main thread in each frame while ${rowsPassed} rows scroll past, ${rowsInPage} in the page`, workMs, 16);
  await context.close();
  const cold = (count: number, conditions?: typeof fast3g) =>
    timeColdPages(browser, url, apiKey, { count, ...(conditions && { conditions }) });
  return {
    first_rows_p95_ms: rounded(p95(inApp)),
    frame_work_p95_ms: rounded(p95(workMs)),
    rows_scrolled: rowsPassed,
    usable_p95_ms: printPages("empty cache, no throttle", await cold(short ? 5 : 20), 1000),
    usable_fast_3g_p95_ms: printPages(
      "empty cache, 4x CPU, WebPageTest 3G Fast",
      await cold(short ? 2 : 10, fast3g),
      3500,
    ),
    usable_dev_tools_fast_3g_p95_ms: printPages(
      "empty cache, 4x CPU, preset Fast 3G of the developer tools",
      await cold(short ? 1 : 5, devToolsFast3g),
      undefined,
    ),
  };
}

/** Measures how long a user waits for the console, on a list of a million runs. */
export async function consolePages({ short }: { readonly short: boolean }): Promise<Figures> {
  const stops = createStops();
  try {
    buildConsole();
    const database = await createScratchDatabase();
    stops.add(database.drop);
    await runCommand(database, ["migrate"]);
    await withClient(database.ownerUrl, (client) => client.query("select maintain_partitions('invocations', 30, 2)"));
    const { key } = await prepareRuns(database, "Bench", short ? sizes.short : sizes.full);
    await withClient(database.adminUrl, (client) => client.query("vacuum analyze invocations, agents"));
    const server = await startServer(database);
    stops.add(server.stop);
    const browser = await launchBrowser();
    stops.add(() => browser.close());
    return await measure(browser, server.url, key, short);
  } finally {
    await stops.all();
  }
}
