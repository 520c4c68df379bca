import { setTimeout as sleep } from "node:timers/promises";
import type { RestateCluster } from "@perch/testkit/installation/restate-process.ts";
import { fetchPartitionViews, type PartitionView } from "./partition-leaders.ts";

/** A partition of the engine got another leader, which takes over the runs that it has in flight. */
export interface LeaderMove {
  readonly partition: number;
  /** Between these times. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface EngineLeaders {
  /** How many partitions each node leads, as the engine shows them now: "2, 2, 2". */
  readonly now: () => string;
  /** Every move since the suite began to watch. */
  readonly moves: readonly LeaderMove[];
  /** Waits until every partition has had the same leader for some seconds. */
  readonly waitUntilStable: () => Promise<void>;
  readonly stop: () => void;
}

export const partitionCount = 6;
const pollIntervalMs = 200;
const stableMs = 4000;
const maxUnstableMs = 90_000;
/** The information of a node about the others may be this old. */
const maxStaleMs = 5000;
/** A leader goes on with its runs until it reads of the next one, whose epoch is shown before. */
const maxStepDownMs = 2000;

async function fetchFromAnyNode({ nodes }: RestateCluster): Promise<PartitionView[]> {
  for (const { metricsUrl } of nodes) {
    const views = await fetchPartitionViews(new URL(metricsUrl).origin).catch(() => undefined);
    if (views) return views;
  }
  return [];
}

interface Shown {
  readonly epoch: number;
  readonly atMs: number;
}

/** Adds one move for each epoch that `views` shows and `shown` does not have yet. */
export function addMoves(views: readonly PartitionView[], atMs: number, shown: Map<number, Shown>, to: LeaderMove[]) {
  for (const [partition, own] of Map.groupBy(views, (view) => view.partition)) {
    const epoch = Math.max(...own.map((view) => view.epoch));
    const before = shown.get(partition);
    if (before && epoch < before.epoch) continue;
    const move = { partition, fromMs: (before?.atMs ?? atMs) - maxStaleMs, untilMs: atMs + maxStepDownMs };
    to.push(...Array.from({ length: epoch - (before?.epoch ?? epoch) }, () => move));
    shown.set(partition, { epoch, atMs });
  }
}

/**
 * Watches who leads each partition of the engine. The engine moves leaders when a node is lost and, in several goes and some
 * seconds later, when it is back; a move changes the epoch of the partition.
 */
export function watchLeaders(engine: RestateCluster): EngineLeaders {
  const moves: LeaderMove[] = [];
  const shown = new Map<number, Shown>();
  let leaders: readonly PartitionView[] = [];
  let sinceMs = performance.now();
  let watching = true;
  const watch = async () => {
    while (watching) {
      const views = await fetchFromAnyNode(engine);
      const before = moves.length;
      addMoves(views, performance.now(), shown, moves);
      leaders = views.filter(({ isLeader }) => isLeader);
      const led = new Set(leaders.map(({ partition }) => partition)).size;
      if (moves.length > before || led < partitionCount) sinceMs = performance.now();
      await sleep(pollIntervalMs);
    }
  };
  void watch();
  return {
    now: () => engine.nodes.map((_, i) => leaders.filter(({ node }) => node === i + 1).length).join(", "),
    moves,
    waitUntilStable: async () => {
      const startedMs = performance.now();
      while (performance.now() - Math.max(sinceMs, startedMs) < stableMs) {
        if (performance.now() - startedMs > maxUnstableMs)
          throw new Error(`The engine's leaders still change after ${maxUnstableMs / 1000} s`);
        await sleep(pollIntervalMs);
      }
    },
    stop: () => {
      watching = false;
    },
  };
}
