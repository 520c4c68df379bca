import { setTimeout as sleep } from "node:timers/promises";
import type { Clients } from "./clients.ts";
import type { Cluster } from "./cluster.ts";
import { waitForRecords } from "./database-records.ts";
import { logProgress } from "./log-progress.ts";

export interface Fault {
  readonly name: string;
  /** When the burst was sent under which it came. */
  readonly burstAtMs: number;
  /** When it may have interrupted the step that a run had in flight. Losing an API node, Valkey or the database never may. */
  readonly interruption?: { readonly fromMs: number; readonly untilMs: number };
  /** From the fault to its repair. */
  readonly fromMs: number;
  readonly repairedMs: number;
}

/** A frozen part is stopped (SIGSTOP): its connections stay open, new ones are accepted, and nothing answers. */
type Part = "worker" | "api" | "engine" | "valkey" | "postgres";
/** Valkey hangs for one API node or one worker only: its connections stay open, and nothing gets through. */
type HungKind = "hung valkey of api" | "hung valkey of worker";
export type FaultKind = Part | `frozen ${Exclude<Part, "api">}` | HungKind;

/** When a part is lost: while the last model answers of a burst of runs arrive, or while these runs are recorded. */
export type Moment = "first byte" | "last byte" | "record";

export interface FaultPlan {
  readonly faults: readonly (readonly [FaultKind, Moment])[];
  readonly postgresDownSeconds: number;
  readonly frozenSeconds: number;
  readonly pauseSeconds: number;
}

const oneOfEach: FaultPlan["faults"] = [
  ["worker", "first byte"],
  ["postgres", "record"],
  ["engine", "record"],
  ["api", "record"],
  ["worker", "last byte"],
  ["valkey", "record"],
  ["worker", "record"],
];
const workerAtEveryMoment: FaultPlan["faults"] = [
  ["worker", "first byte"],
  ["worker", "last byte"],
  ["worker", "record"],
];

/** Two engine nodes: the first in the list of the API nodes, which all of them call, and another. */
const freezeEach: FaultPlan["faults"] = [
  ["frozen engine", "first byte"],
  ["frozen valkey", "record"],
  ["frozen worker", "first byte"],
  ["frozen postgres", "record"],
  ["frozen engine", "record"],
];

export const fullPlan: FaultPlan = {
  faults: [
    ...oneOfEach,
    ...workerAtEveryMoment,
    ["engine", "first byte"],
    ...workerAtEveryMoment,
    ...oneOfEach,
    ...freezeEach,
    ["api", "last byte"],
    ...workerAtEveryMoment,
  ],
  postgresDownSeconds: 20,
  frozenSeconds: 20,
  pauseSeconds: 3,
};
export const shortPlan: FaultPlan = {
  faults: [
    ["worker", "first byte"],
    ["postgres", "record"],
    ["engine", "record"],
    ["api", "record"],
    ["frozen valkey", "record"],
    ["worker", "record"],
  ],
  postgresDownSeconds: 5,
  frozenSeconds: 5,
  pauseSeconds: 1,
};

const hungValkey: FaultPlan["faults"] = [
  ["hung valkey of api", "record"],
  ["hung valkey of worker", "record"],
];
const timesOfOne = 5;

/**
 * The plan with only the faults of these kinds, as many times as it has them. A single kind comes five times at least, with pauses
 * that are long enough to compare the throughput before and after.
 */
export const withOnly = (plan: FaultPlan, kinds: readonly string[]): FaultPlan => {
  const faults = [...plan.faults, ...hungValkey].filter(([kind]) => kinds.includes(kind));
  const [first] = faults;
  if (!first) throw new Error(`No fault of the plan is one of: ${kinds.join(", ")}`);
  if (kinds.length > 1) return { ...plan, faults };
  const times = Math.max(timesOfOne, faults.length);
  return { ...plan, faults: Array.from({ length: times }, (_, i) => faults[i] ?? first), pauseSeconds: 16 };
};

interface FaultTarget {
  readonly name: string;
  readonly downSeconds: number;
  readonly inject: () => Promise<void>;
  readonly restore: () => Promise<void>;
}

function signal(pid: number | undefined, name: "SIGSTOP" | "SIGCONT"): void {
  if (pid === undefined) throw new Error(`There is no process for ${name}`);
  process.kill(pid, name);
}

function findBusiestWorker({ balancer, workers }: Cluster) {
  // Connections are not moved, so a worker that has just started may have none.
  const [busiest] = balancer.loads();
  const worker = workers.find(({ port }) => port === busiest?.port);
  if (!worker) throw new Error("There is no worker");
  const name = `worker ${workers.indexOf(worker) + 1} (${busiest?.connections} connections)`;
  return { worker, name };
}

function findEngineNode({ engine }: Cluster, nth: number) {
  const index = nth % engine.nodes.length;
  const node = engine.nodes[index];
  if (!node) throw new Error("There is no engine node");
  return { node, name: `Restate node ${index + 1}` };
}

function chooseFrozen(kind: FaultKind, nth: number, cluster: Cluster, plan: FaultPlan): FaultTarget | undefined {
  const freezeTarget = (name: string, freeze: () => unknown, thaw: () => unknown): FaultTarget => ({
    name: `${plan.frozenSeconds} s freeze of ${name}`,
    downSeconds: plan.frozenSeconds,
    inject: async () => void (await freeze()),
    restore: async () => void (await thaw()),
  });
  const freezeProcess = (name: string, { pid }: { pid: () => number | undefined }): FaultTarget =>
    freezeTarget(
      name,
      () => signal(pid(), "SIGSTOP"),
      () => signal(pid(), "SIGCONT"),
    );
  switch (kind) {
    case "frozen worker": {
      const { worker, name } = findBusiestWorker(cluster);
      return freezeProcess(name, worker);
    }
    case "frozen engine": {
      const { node, name } = findEngineNode(cluster, nth);
      return freezeProcess(name, node);
    }
    case "frozen valkey":
      return freezeTarget("Valkey", cluster.valkey.freeze, cluster.valkey.thaw);
    case "hung valkey of api":
      return freezeTarget("Valkey for API node 1", cluster.valkeyProxies.api.hang, cluster.valkeyProxies.api.resume);
    case "hung valkey of worker":
      return freezeTarget(
        "Valkey for worker 1",
        cluster.valkeyProxies.worker.hang,
        cluster.valkeyProxies.worker.resume,
      );
    case "frozen postgres":
      return freezeTarget("PostgreSQL", cluster.postgres.freeze, cluster.postgres.thaw);
    default:
      return undefined;
  }
}

function chooseTarget(kind: FaultKind, nth: number, cluster: Cluster, plan: FaultPlan): FaultTarget {
  const frozen = chooseFrozen(kind, nth, cluster, plan);
  if (frozen) return frozen;
  const killTarget = (name: string, part: { kill: () => Promise<void>; start: () => Promise<void> }): FaultTarget => ({
    name,
    downSeconds: 1,
    inject: part.kill,
    restore: part.start,
  });
  switch (kind) {
    case "worker": {
      const { worker, name } = findBusiestWorker(cluster);
      return killTarget(`SIGKILL of ${name}`, worker);
    }
    case "api": {
      const index = nth % cluster.apis.length;
      const api = cluster.apis[index];
      if (!api) throw new Error("There is no API node to kill");
      return killTarget(`SIGKILL of API node ${index + 1}`, api);
    }
    case "engine": {
      const { node, name } = findEngineNode(cluster, nth);
      return killTarget(`SIGKILL of ${name}`, node);
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
    default:
      throw new Error(`There is no fault of the kind ${kind}`);
  }
}

/** For a busy machine; the moment comes within a second or two on one that is not. */
const maxWaitSeconds = 120;

async function waitUntil(isReached: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + maxWaitSeconds * 1000;
  while (!isReached()) {
    if (performance.now() > deadline) throw new Error(`${what}: not reached after ${maxWaitSeconds} s`);
    await sleep(1);
  }
}

/** Waits for a random one of the burst's runs to come to this moment, so that the others are before and after it. */
async function waitForMoment(moment: Moment, burst: string, { model, postgres }: Cluster): Promise<void> {
  const nth = 1 + Math.floor(Math.random() * 32);
  switch (moment) {
    case "first byte":
      return waitUntil(() => model.sentTo(burst).firstBytes >= nth, `${nth} first bytes for ${burst}`);
    case "last byte":
      return waitUntil(() => model.sentTo(burst).lastBytes >= nth, `${nth} last bytes for ${burst}`);
    case "record":
      return waitForRecords(postgres.adminUrl, `${burst},`, nth, maxWaitSeconds);
  }
}

/** Injects one fault after another, each repaired before the next. */
export async function injectFaults(
  cluster: Cluster,
  clients: Clients,
  plan: FaultPlan,
  onInjected: (kind: FaultKind) => void = () => undefined,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  const times = new Map<FaultKind, number>();
  for (const [kind, moment] of plan.faults) {
    await sleep(plan.pauseSeconds * 1000);
    const nth = times.get(kind) ?? 0;
    times.set(kind, nth + 1);
    const burstAtMs = performance.now();
    const burst = clients.sendBurst();
    await waitForMoment(moment, burst, cluster);
    const { name, downSeconds, inject, restore } = chooseTarget(kind, nth, cluster, plan);
    const { firstBytes, lastBytes } = cluster.model.sentTo(burst);
    const fromMs = performance.now();
    onInjected(kind);
    await inject();
    const untilMs = performance.now();
    const title = `fault ${faults.length + 1}`;
    logProgress(`${title}: ${name} at a ${moment} of ${burst} (${firstBytes} answers begun, ${lastBytes} given)`);
    await sleep(downSeconds * 1000);
    await restore();
    const repairedMs = performance.now();
    logProgress(`${title}: recovered after ${((repairedMs - fromMs) / 1000).toFixed(1)} s`);
    if (kind === "engine" || kind === "frozen engine") {
      await cluster.leaders.waitUntilStable();
      logProgress(`${title}: the Restate nodes lead ${cluster.leaders.now()} partitions`);
    }
    // A killed worker makes no more calls, so its interruption ends at once.
    const interruption = kind === "worker" && { interruption: { fromMs, untilMs } };
    faults.push({ name, burstAtMs, fromMs, repairedMs, ...interruption });
  }
  await sleep(plan.pauseSeconds * 1000);
  return faults;
}
