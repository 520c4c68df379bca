import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../api-client.ts";

export const agent = "talker";
const linesPerBatch = 4;
const batchEveryMs = 200;
const runEveryMs = 1000;

/** `line 17` and so on, whatever else is logged. */
export const numbersIn = (text: string): number[] =>
  [...text.matchAll(/ \w+ line (\d+) /g)].map(([, number]) => Number(number));

export interface Load {
  /** The number of the last line that was written. */
  readonly written: () => number;
  readonly runs: () => number;
  /** Writes so many lines at once. */
  readonly burst: (lines: number) => Promise<void>;
  readonly start: () => void;
  /** Returns when the last line was written. */
  readonly stop: () => Promise<void>;
}

/** Numbered lines, in their order and each once, and runs that log. */
export function createLoad(api: Api, token: string): Load {
  let written = 0;
  let runs = 0;
  const stopping = new AbortController();
  const working: Promise<void>[] = [];
  const write = async (count: number) => {
    const entries = Array.from({ length: count }, (_, index) => ({
      message: `line ${written + index + 1} of the long watch`,
      level: index === 0 ? "warn" : "info",
      metadata: { order: 4217, shelf: "jasmine" },
    }));
    await api.post(`/v1/agents/${agent}/logs`, token, { entries }, { key: `lines-${written}` });
    written += count;
  };
  const every = async (ms: number, work: () => Promise<void>) => {
    while (!stopping.signal.aborted) {
      const startedMs = performance.now();
      await work();
      const restMs = Math.max(0, ms - (performance.now() - startedMs));
      await sleep(restMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const run = async () => {
    await api.post(`/v1/agents/${agent}/invoke`, token, { message: `Hello ${runs + 1}` }, { key: `run-${runs}` });
    runs++;
  };
  return {
    written: () => written,
    runs: () => runs,
    burst: async (lines) => {
      for (let left = lines; left > 0; left -= 100) await write(Math.min(100, left));
    },
    start: () =>
      void working.push(
        every(batchEveryMs, () => write(linesPerBatch)),
        every(runEveryMs, run),
      ),
    stop: async () => {
      stopping.abort();
      await Promise.all(working);
    },
  };
}
