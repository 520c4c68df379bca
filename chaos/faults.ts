import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { say } from "./progress.ts";

export interface Fault {
  readonly name: string;
  /** When it may have cut off the step a run had in flight. Losing an API node, Valkey or the database never may. */
  readonly interruptions: readonly Interruption[];
}

export interface Interruption {
  readonly fromMs: number;
  readonly untilMs: number;
}

export type FaultKind = "worker" | "api" | "engine" | "valkey" | "postgres" | "silent postgres";

export interface FaultPlan {
  readonly kinds: readonly FaultKind[];
  readonly postgresAwaySeconds: number;
  readonly pauseSeconds: number;
}

const once: readonly FaultKind[] = ["worker", "postgres", "engine", "api", "valkey"];

export const fullPlan: FaultPlan = {
  kinds: [...once, ...once, "worker", "engine", "silent postgres", "api"],
  postgresAwaySeconds: 20,
  pauseSeconds: 5,
};
export const shortPlan: FaultPlan = { kinds: [...once, "worker"], postgresAwaySeconds: 5, pauseSeconds: 3 };

interface Victim {
  readonly name: string;
  readonly awaySeconds: number;
  readonly strike: () => Promise<void>;
  readonly restore: () => Promise<void>;
}

function victimOf(kind: FaultKind, nth: number, cluster: Cluster, plan: FaultPlan): Victim {
  const killed = (name: string, part: { kill: () => Promise<void>; start: () => Promise<void> }): Victim => ({
    name,
    awaySeconds: 2,
    strike: part.kill,
    restore: part.start,
  });
  switch (kind) {
    case "worker": {
      // The one that works: connections stay where they are, so one that has just been started may have none.
      const [busiest] = cluster.balancer.loads();
      const worker = cluster.workers.find(({ port }) => port === busiest?.port);
      if (!worker) throw new Error("There is no worker to kill");
      const index = cluster.workers.indexOf(worker) + 1;
      return killed(`SIGKILL of worker ${index} (${busiest?.connections} connections)`, worker);
    }
    case "api": {
      const index = nth % cluster.apis.length;
      const api = cluster.apis[index];
      if (!api) throw new Error("There is no API node to kill");
      return killed(`SIGKILL of API node ${index + 1}`, api);
    }
    case "engine": {
      const index = nth % cluster.engine.nodes.length;
      const node = cluster.engine.nodes[index];
      if (!node) throw new Error("There is no engine node to kill");
      return killed(`SIGKILL of Restate node ${index + 1}`, node);
    }
    case "valkey":
      return killed("kill and restart of Valkey", cluster.valkey);
    case "postgres":
      return {
        name: `${plan.postgresAwaySeconds} s stop of PostgreSQL`,
        awaySeconds: plan.postgresAwaySeconds,
        strike: cluster.postgres.crash,
        restore: cluster.postgres.start,
      };
    case "silent postgres":
      return {
        name: `${plan.postgresAwaySeconds} s freeze of PostgreSQL`,
        awaySeconds: plan.postgresAwaySeconds,
        strike: cluster.postgres.freeze,
        restore: cluster.postgres.thaw,
      };
  }
}

/** One fault after another, each repaired before the next. */
export async function strikeAll(cluster: Cluster, plan: FaultPlan): Promise<Fault[]> {
  const { leaders } = cluster;
  const faults: Fault[] = [];
  const times = new Map<FaultKind, number>();
  for (const kind of plan.kinds) {
    await sleep(plan.pauseSeconds * 1000);
    const nth = times.get(kind) ?? 0;
    times.set(kind, nth + 1);
    const { name, awaySeconds, strike, restore } = victimOf(kind, nth, cluster, plan);
    const title = `fault ${faults.length + 1}`;
    say(`${title}: ${name}, with ${cluster.model.underWay()} model calls under way`);
    const leadersBefore = leaders.now();
    const fromMs = performance.now();
    await strike();
    const struckMs = performance.now();
    await sleep(awaySeconds * 1000);
    const returnMs = performance.now();
    await restore();
    say(`${title}: runs again after ${((performance.now() - fromMs) / 1000).toFixed(1)} s`);
    // A dead worker calls nobody.
    const interruptions = kind === "worker" ? [{ fromMs, untilMs: struckMs }] : [];
    if (kind === "engine") {
      interruptions.push({ fromMs, untilMs: performance.now() });
      const untilMs = await leaders.untilTheyStay(leadersBefore);
      const moves = leaders.movesAtMs.filter((atMs) => atMs > returnMs);
      say(`${title}: after ${moves.length} moves the Restate nodes lead ${leaders.now()} partitions`);
      // The engine shows a move some seconds late, so each that it showed may have been at any time since the node's return.
      interruptions.push(...moves.map(() => ({ fromMs: returnMs, untilMs })));
    }
    faults.push({ name, interruptions });
  }
  await sleep(plan.pauseSeconds * 1000);
  return faults;
}
