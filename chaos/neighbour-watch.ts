import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { WatchedProcess } from "./neighbour-cluster.ts";

export interface ReadinessFigures {
  checks: number;
  longestMs: number;
  failures: number;
  firstFailure: string | undefined;
}

export interface ProcessFigures {
  maxRssMegabytes: number;
  maxHeapMegabytes: number;
  /** The longest time that its event loop did nothing else. */
  maxLagMs: number;
  hasEnded: boolean;
}

export interface Watch {
  readonly readiness: ReadinessFigures;
  readonly processes: Readonly<Record<string, ProcessFigures>>;
  readonly stop: () => Promise<void>;
}

const readinessIntervalMs = 250;
/** Lag and memory are the largest since the last reading, which itself costs some milliseconds. */
const processIntervalMs = 5000;
const answerTimeoutMs = 5000;

const noFigures: ProcessFigures = { maxRssMegabytes: 0, maxHeapMegabytes: 0, maxLagMs: 0, hasEnded: false };

const maxRssOf = (pid: number): number => {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
};

async function checkReadiness(url: string, figures: ReadinessFigures): Promise<void> {
  const startedMs = performance.now();
  const problem = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(answerTimeoutMs) }).then(
    async (response) => {
      const text = await response.text();
      return response.ok ? undefined : `${response.status} ${text.slice(0, 300)}`;
    },
    String,
  );
  figures.checks += 1;
  figures.longestMs = Math.max(figures.longestMs, performance.now() - startedMs);
  if (!problem) return;
  figures.failures += 1;
  figures.firstFailure ??= problem;
}

const metricOf = (text: string, name: string): number =>
  Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, "m").exec(text)?.[1] ?? 0);

/** The process measures its lag since it was last asked, and answers once its event loop is free. */
async function readProcess({ pid, metricsUrl }: WatchedProcess, figures: ProcessFigures): Promise<void> {
  const id = pid();
  if (id === undefined) {
    figures.hasEnded = true;
    return;
  }
  figures.maxRssMegabytes = Math.max(figures.maxRssMegabytes, Math.round(maxRssOf(id)));
  const startedMs = performance.now();
  const text = await fetch(metricsUrl, { signal: AbortSignal.timeout(answerTimeoutMs) })
    .then((response) => response.text())
    .catch(() => "");
  const lagMs = text === "" ? performance.now() - startedMs : metricOf(text, "nodejs_eventloop_lag_max_seconds") * 1000;
  figures.maxLagMs = Math.max(figures.maxLagMs, Math.round(lagMs));
  const heap = metricOf(text, "nodejs_heap_size_used_bytes") / 1024 ** 2;
  figures.maxHeapMegabytes = Math.max(figures.maxHeapMegabytes, Math.round(heap));
}

/** Asks the API nodes whether they are ready, and reads the resource usage of every process, until it is stopped. */
export function startWatch(apiUrls: readonly string[], processes: readonly WatchedProcess[]): Watch {
  const readiness: ReadinessFigures = { checks: 0, longestMs: 0, failures: 0, firstFailure: undefined };
  const figures: Record<string, ProcessFigures> = Object.fromEntries(
    processes.map(({ name }) => [name, { ...noFigures }]),
  );
  let watching = true;
  const repeat = async (intervalMs: number, work: () => Promise<void>): Promise<void> => {
    while (watching) {
      await work();
      await sleep(intervalMs);
    }
  };
  const watchProcess = async (one: WatchedProcess): Promise<void> => {
    // The first answer is about the time before.
    await readProcess(one, { ...noFigures });
    await repeat(processIntervalMs, () => readProcess(one, figures[one.name] as ProcessFigures));
  };
  const running = Promise.all([
    ...apiUrls.map((url) => repeat(readinessIntervalMs, () => checkReadiness(url, readiness))),
    ...processes.map(watchProcess),
  ]);
  return {
    readiness,
    processes: figures,
    stop: async () => {
      watching = false;
      await running;
      readiness.longestMs = Math.round(readiness.longestMs);
      for (const { name, pid } of processes) if (pid() === undefined) (figures[name] as ProcessFigures).hasEnded = true;
    },
  };
}
