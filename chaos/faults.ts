import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { logProgress } from "./log-progress.ts";

export interface Fault {
  readonly name: string;
  /** When it may have interrupted the step that a run had in flight. Losing an API node, Valkey or the database never may. */
  readonly interruptions: readonly Interruption[];
}

export interface Interruption {
  readonly fromMs: number;
  readonly untilMs: number;
}

export type FaultKind = "worker" | "api" | "engine" | "valkey" | "postgres" | "frozen postgres";

export interface FaultPlan {
  readonly kinds: readonly FaultKind[];
  readonly postgresDownSeconds: number;
  readonly pauseSeconds: number;
}

const oneOfEach: readonly FaultKind[] = ["worker", "postgres", "engine", "api", "valkey"];

export const fullPlan: FaultPlan = {
  kinds: [...oneOfEach, ...oneOfEach, "worker", "engine", "frozen postgres", "api"],
  postgresDownSeconds: 20,
  pauseSeconds: 5,
};
export const shortPlan: FaultPlan = { kinds: [...oneOfEach, "worker"], postgresDownSeconds: 5, pauseSeconds: 3 };

interface FaultTarget {
  readonly name: string;
  readonly downSeconds: number;
  readonly inject: () => Promise<void>;
  readonly restore: () => Promise<void>;
}

function chooseTarget(kind: FaultKind, nth: number, cluster: Cluster, plan: FaultPlan): FaultTarget {
  const killTarget = (name: string, part: { kill: () => Promise<void>; start: () => Promise<void> }): FaultTarget => ({
    name,
    downSeconds: 2,
    inject: part.kill,
    restore: part.start,
  });
  switch (kind) {
    case "worker": {
      // Choose the busiest one: connections are not moved, so a worker that has just started may have none.
      const [busiest] = cluster.balancer.loads();
      const worker = cluster.workers.find(({ port }) => port === busiest?.port);
      if (!worker) throw new Error("There is no worker to kill");
      const index = cluster.workers.indexOf(worker) + 1;
      return killTarget(`SIGKILL of worker ${index} (${busiest?.connections} connections)`, worker);
    }
    case "api": {
      const index = nth % cluster.apis.length;
      const api = cluster.apis[index];
      if (!api) throw new Error("There is no API node to kill");
      return killTarget(`SIGKILL of API node ${index + 1}`, api);
    }
    case "engine": {
      const index = nth % cluster.engine.nodes.length;
      const node = cluster.engine.nodes[index];
      if (!node) throw new Error("There is no engine node to kill");
      return killTarget(`SIGKILL of Restate node ${index + 1}`, node);
    }
    case "valkey":
      return killTarget("kill and restart of Valkey", cluster.valkey);
    case "postgres":
      return {
        name: `${plan.postgresDownSeconds} s stop of PostgreSQL`,
        downSeconds: plan.postgresDownSeconds,
        inject: cluster.postgres.crash,
        restore: cluster.postgres.start,
      };
    case "frozen postgres":
      return {
        name: `${plan.postgresDownSeconds} s freeze of PostgreSQL`,
        downSeconds: plan.postgresDownSeconds,
        inject: cluster.postgres.freeze,
        restore: cluster.postgres.thaw,
      };
  }
}

/** Injects one fault after another, each repaired before the next. */
export async function injectFaults(cluster: Cluster, plan: FaultPlan): Promise<Fault[]> {
  const { leaders } = cluster;
  const faults: Fault[] = [];
  const times = new Map<FaultKind, number>();
  for (const kind of plan.kinds) {
    await sleep(plan.pauseSeconds * 1000);
    const nth = times.get(kind) ?? 0;
    times.set(kind, nth + 1);
    const { name, downSeconds, inject, restore } = chooseTarget(kind, nth, cluster, plan);
    const title = `fault ${faults.length + 1}`;
    logProgress(`${title}: ${name}, with ${cluster.model.callsInFlight()} model calls in flight`);
    const leadersBefore = leaders.now();
    const fromMs = performance.now();
    await inject();
    const injectedMs = performance.now();
    await sleep(downSeconds * 1000);
    const returnMs = performance.now();
    await restore();
    logProgress(`${title}: recovered after ${((performance.now() - fromMs) / 1000).toFixed(1)} s`);
    // A killed worker makes no more calls, so its interruption ends at once.
    const interruptions = kind === "worker" ? [{ fromMs, untilMs: injectedMs }] : [];
    if (kind === "engine") {
      interruptions.push({ fromMs, untilMs: performance.now() });
      const untilMs = await leaders.waitUntilStable(leadersBefore);
      const moves = leaders.movesAtMs.filter((atMs) => atMs > returnMs);
      logProgress(`${title}: after ${moves.length} moves the Restate nodes lead ${leaders.now()} partitions`);
      // The engine reports a move some seconds late, so each may have happened at any time since the node's return.
      interruptions.push(...moves.map(() => ({ fromMs: returnMs, untilMs })));
    }
    faults.push({ name, interruptions });
  }
  await sleep(plan.pauseSeconds * 1000);
  return faults;
}
