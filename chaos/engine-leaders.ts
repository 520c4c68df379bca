import { setTimeout as sleep } from "node:timers/promises";
import type { RestateCluster } from "../scripts/testbed/restate-process.ts";

export interface EngineLeaders {
  /** Partitions led by each node, as the engine shows them now: "1, 2, 3". */
  readonly now: () => string;
  /** When the reported leaders changed. */
  readonly movesAtMs: readonly number[];
  /** Waits until the leaders are stable, longer if they are not those in `before`; returns when they last changed. */
  readonly waitUntilStable: (before: string) => Promise<number>;
  readonly stop: () => void;
}

const pollIntervalMs = 250;
const stableSeconds = { before: 4, other: 20, max: 90 };

const gauge = (metrics: string, name: string): string =>
  new RegExp(`^restate_${name}\\S* (\\d+)`, "m").exec(metrics)?.[1] ?? "-";

const leadersOf = ({ nodes }: RestateCluster): Promise<string[]> =>
  Promise.all(
    nodes.map(({ metricsUrl }) =>
      fetch(metricsUrl, { signal: AbortSignal.timeout(1000) })
        .then((response) => response.text())
        .then(
          (metrics) => gauge(metrics, "num_active_partition_leaders"),
          () => "-",
        ),
    ),
  );

/**
 * Watches which node leads how many partitions. The engine moves leaders, and the runs with them, when a node is lost and, in
 * several goes and some seconds later, when it is back.
 */
export function watchLeaders(engine: RestateCluster): EngineLeaders {
  const movesAtMs: number[] = [];
  let last = "";
  let sinceMs = performance.now();
  let watching = true;
  const watch = async () => {
    while (watching) {
      const shown = (await leadersOf(engine)).join(", ");
      if (shown !== last) {
        last = shown;
        sinceMs = performance.now();
        movesAtMs.push(sinceMs);
      }
      await sleep(pollIntervalMs);
    }
  };
  void watch();
  return {
    now: () => last,
    movesAtMs,
    waitUntilStable: async (before) => {
      const startedMs = performance.now();
      const requiredMs = () => (last === before ? stableSeconds.before : stableSeconds.other) * 1000;
      while (performance.now() - Math.max(sinceMs, startedMs) < requiredMs()) {
        if (performance.now() - startedMs > stableSeconds.max * 1000)
          throw new Error(`The engine's leaders still change after ${stableSeconds.max} s`);
        await sleep(pollIntervalMs);
      }
      return sinceMs;
    },
    stop: () => {
      watching = false;
    },
  };
}
