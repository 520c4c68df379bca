import { setTimeout as sleep } from "node:timers/promises";
import type { RestateCluster } from "../scripts/testbed/restate-process.ts";

export interface EngineLeaders {
  /** Partitions led by each node, as the engine shows them now: "1, 2, 3". */
  readonly now: () => string;
  /** When the engine showed other leaders than before. */
  readonly movesAtMs: readonly number[];
  /** Waits until the leaders are as they were, or will not be; tells since when. */
  readonly untilTheyStay: (asBefore: string) => Promise<number>;
  readonly stop: () => void;
}

const everyMs = 250;
const steadySeconds = { asBefore: 4, otherwise: 20, atMost: 90 };

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
      await sleep(everyMs);
    }
  };
  void watch();
  return {
    now: () => last,
    movesAtMs,
    untilTheyStay: async (asBefore) => {
      const startedMs = performance.now();
      const enough = () => (last === asBefore ? steadySeconds.asBefore : steadySeconds.otherwise) * 1000;
      while (performance.now() - Math.max(sinceMs, startedMs) < enough()) {
        if (performance.now() - startedMs > steadySeconds.atMost * 1000)
          throw new Error(`The engine's leaders still move after ${steadySeconds.atMost} s`);
        await sleep(everyMs);
      }
      return sinceMs;
    },
    stop: () => {
      watching = false;
    },
  };
}
