import type { RunStreams, StoredEvent } from "./run-streams.ts";

export const pageSize = 100;

/** The source of the events of runs. */
export interface EventSource {
  /** Calls back when there may be new events, or when the source connects or disconnects. Returns the unsubscribe function. */
  readonly listen: (runId: string, wake: () => void) => () => void;
  /** At most `pageSize` events after this one, or from the first. Undefined when the source does not answer. */
  readonly page: (runId: string, after: string | undefined) => Promise<readonly StoredEvent[] | undefined>;
  /** Whether `listen` can be relied upon now. */
  readonly isListening: () => boolean;
  readonly isClosed: () => boolean;
}

/** Up to 19 digits fit in the 64 bits that Valkey has for each half: it would refuse more, again and again. */
const idPattern = /^\d{1,19}-\d{1,19}$/;
const quietSeconds = [0, 1, 2] as const;

/** When to give an empty page: at once and then every few seconds for a run that may write nothing here, each second in trouble. */
function quietMs(emptyPages: number, wasSeen: boolean, degraded: boolean): number {
  if (!wasSeen && emptyPages === 0) return 0;
  if (degraded) return 1000;
  return (wasSeen ? 15 : (quietSeconds[emptyPages] ?? 3)) * 1000;
}

/** Pages are read one by one, when asked for: a slow reader holds one page, and a waiting one holds a timer. */
export const createPageReader = (source: EventSource): RunStreams["read"] =>
  async function* read(runId, after, signal) {
    let last = after !== undefined && idPattern.test(after) ? after : undefined;
    let emptyPages = 0;
    let wasSeen = false;
    let lastYieldAtMs = performance.now();
    let mayHaveMore = true;
    let endWait = () => {};
    const wake = (): void => {
      mayHaveMore = true;
      endWait();
    };
    const wait = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, Math.ceil(ms));
        endWait = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    const isOver = () => signal.aborted || source.isClosed();
    if (isOver()) return;

    // Listen first, then read: no event between the two is missed.
    const unsubscribe = source.listen(runId, wake);
    signal.addEventListener("abort", wake);
    try {
      while (!isOver()) {
        mayHaveMore = false;
        const page = await source.page(runId, last);
        if (isOver()) return;
        if (page && page.length > 0) {
          last = page.at(-1)?.id;
          wasSeen = true;
          mayHaveMore ||= page.length === pageSize;
          yield page;
          lastYieldAtMs = performance.now();
        } else if (leftMs(page === undefined) <= 0) {
          emptyPages++;
          yield [];
          lastYieldAtMs = performance.now();
        }
        if (!mayHaveMore && !isOver()) await wait(Math.max(leftMs(page === undefined), 1));
      }
    } finally {
      signal.removeEventListener("abort", wake);
      unsubscribe();
    }

    function leftMs(failed: boolean): number {
      const degraded = failed || !source.isListening();
      return lastYieldAtMs + quietMs(emptyPages, wasSeen, degraded) - performance.now();
    }
  };
