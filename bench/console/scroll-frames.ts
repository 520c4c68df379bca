import type { Browser, Page } from "playwright-core";

/** An event of Chromium's trace. Times are in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** The thread's own time, without the time that the machine spent elsewhere. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

export interface ScrolledFrames {
  /** The time that the page's main thread works in each frame. */
  readonly workMs: readonly number[];
  readonly rowsPassed: number;
  readonly rowsInPage: number;
}

/** The thread that ran the animation frames of the page that scrolled. */
function mainThreadOf(events: readonly TraceEvent[]): Pick<TraceEvent, "pid" | "tid"> {
  const counts = new Map<string, { pid: number; tid: number; frames: number }>();
  for (const { name, pid, tid } of events) {
    if (name !== "FireAnimationFrame") continue;
    const key = `${pid} ${tid}`;
    const found = counts.get(key) ?? { pid, tid, frames: 0 };
    found.frames++;
    counts.set(key, found);
  }
  const [busiest] = [...counts.values()].toSorted((a, b) => b.frames - a.frames);
  if (!busiest) throw new Error("The trace has no animation frames");
  return busiest;
}

/** Sums up the tasks of the main thread from each animation frame to the next. */
export function frameWork(events: readonly TraceEvent[]): number[] {
  const { pid, tid } = mainThreadOf(events);
  const own = events.filter((event) => event.pid === pid && event.tid === tid).toSorted((a, b) => a.ts - b.ts);
  const starts = own.filter(({ name }) => name === "FireAnimationFrame").map(({ ts }) => ts);
  const tasks = own.filter(({ name, ph, dur }) => name === "RunTask" && ph === "X" && dur !== undefined);
  const work = starts.map(() => 0);
  let frame = 0;
  for (const { ts, dur = 0, tdur = dur } of tasks) {
    // A task belongs to the frame that it fires, or to the one before it.
    while (frame < starts.length - 1 && (starts[frame + 1] ?? 0) < ts + dur) frame++;
    work[frame] = (work[frame] ?? 0) + tdur / 1000;
  }
  // The first and the last are not whole frames.
  return work.slice(1, -1);
}

/** Scrolls through the list by five rows per frame, and traces the cost. */
export async function scrollRuns(browser: Browser, page: Page, frames: number): Promise<ScrolledFrames> {
  await page.goto("/console/runs");
  await page.locator("tr[data-index='0'] a").first().waitFor();
  await browser.startTracing(page, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline"] });
  const { rowsPassed, rowsInPage } = await page.evaluate<{
    rowsPassed: number;
    rowsInPage: number;
  }>(`new Promise((resolve) => {
    let scroller = document.querySelector("tr[data-index='0']");
    while (scroller && !(scroller.scrollHeight > scroller.clientHeight + 1 && getComputedStyle(scroller).overflowY !== "visible")) scroller = scroller.parentElement;
    let left = ${frames};
    const step = () => {
      if (left-- === 0) resolve({ rowsPassed: Math.round(scroller.scrollTop / 32), rowsInPage: document.querySelectorAll("tr[data-index]").length });
      else { scroller.scrollTop += 160; requestAnimationFrame(step); }
    };
    requestAnimationFrame(step);
  })`);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString("utf8")) as { traceEvents: TraceEvent[] };
  return { workMs: frameWork(traceEvents), rowsPassed, rowsInPage };
}
