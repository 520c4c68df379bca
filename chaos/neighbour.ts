import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { cpuUse, type Parts, readCpuTimes } from "@perch/testkit/installation/cpu-time.ts";
import { interruption } from "@perch/testkit/services/commands.ts";
import { logProgress } from "./log-progress.ts";
import type { AttackerMessage, AttackOrder, AttackReport } from "./neighbour-attacker.ts";
import { attacks } from "./neighbour-attacks.ts";
import { type NeighbourCluster, startNeighbourCluster } from "./neighbour-cluster.ts";
import { createBadTenants, createVictim } from "./neighbour-tenants.ts";
import { compareOperations, judge } from "./neighbour-verdict.ts";
import { type Measurements, operations, startVictimClients, type VictimClients } from "./neighbour-victim.ts";
import { startWatch } from "./neighbour-watch.ts";

interface NeighbourOptions {
  readonly short: boolean;
  readonly json: boolean;
  /** The names of the attacks to make, separated by commas; otherwise all. */
  readonly only: string | undefined;
}

const fullSeconds = 60;
const shortSeconds = 20;
const warmUpSeconds = 4;

async function receive(attacker: ChildProcess): Promise<AttackerMessage> {
  const ended = once(attacker, "exit").then(([code]) => {
    throw new Error(`The process of the bad neighbours ended with ${code}`);
  });
  const [message] = await Promise.race([once(attacker, "message"), ended]);
  return message as AttackerMessage;
}

async function receiveServers(attacker: ChildProcess) {
  const message = await receive(attacker);
  if (!("servers" in message)) throw new Error("The bad neighbours sent no addresses");
  return message.servers;
}

function chooseAttacks(only: string | undefined): readonly string[] {
  const known = Object.keys(attacks);
  const chosen = only?.split(",") ?? known;
  const unknown = chosen.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`--only: unknown ${unknown.join(", ")}. Known: ${known.join(", ")}`);
  return chosen;
}

const toPids = (...pids: readonly (number | undefined)[]): number[] => pids.filter((pid) => pid !== undefined);

const partsOf = ({ processes, postgres, engine }: NeighbourCluster, attacker: ChildProcess): Parts => ({
  ...Object.fromEntries(processes.map(({ name, pid }) => [name, () => toPids(pid())])),
  PostgreSQL: postgres.pids,
  engine: () => toPids(...engine.nodes.map(({ pid }) => pid())),
  "bad neighbours": () => toPids(attacker.pid),
  "victim's clients and balancer": () => [process.pid],
});

/** Measures during the attacks, together with the resource usage of each part. */
async function measureDisturbed(
  cluster: NeighbourCluster,
  victim: VictimClients,
  attacker: ChildProcess,
  order: AttackOrder,
) {
  const parts = partsOf(cluster, attacker);
  const watch = startWatch(cluster.apiUrls, cluster.processes);
  const before = readCpuTimes(parts);
  const startedMs = performance.now();
  attacker.send(order);
  const [measured, message] = await Promise.all([victim.measure(order.seconds), receive(attacker)]);
  const elapsedMs = performance.now() - startedMs;
  const used = cpuUse(before, readCpuTimes(parts));
  await watch.stop();
  const report: AttackReport = "report" in message ? message.report : {};
  const cores = Object.entries(used.parts).map(([name, ms]) => [name, Math.round((ms / elapsedMs) * 100) / 100]);
  const toShare = (share: number) => Math.round(share * 100) / 100;
  const cpu = {
    cores: Object.fromEntries(cores),
    foreign_share: toShare(used.foreign),
    stolen_share: toShare(used.stolen),
    idle_share: toShare(used.idle),
  };
  return { measured, watch, report, cpu };
}

function logErrors(measurements: Measurements): void {
  for (const name of operations) for (const error of measurements[name].errors.slice(0, 3)) logProgress(error);
}

type Servers = Awaited<ReturnType<typeof receiveServers>>;

async function compare(cluster: NeighbourCluster, attacker: ChildProcess, servers: Servers, options: NeighbourOptions) {
  const seconds = options.short ? shortSeconds : fullSeconds;
  const names = chooseAttacks(options.only);
  const victim = await startVictimClients(cluster.apiUrls, cluster.tokens.victim);
  try {
    await createVictim(cluster, victim.hookUrl, victim.issuer);
    logProgress("created the victim");
    await createBadTenants(cluster, servers);
    logProgress("created the bad neighbours");
    await victim.measure(warmUpSeconds);
    // In the short form there are too few requests to judge times, so there is nothing to compare.
    const calm = await victim.measure(options.short ? 0 : seconds);
    if (!options.short) logProgress(`measured ${seconds} s without the bad neighbours`);
    logErrors(calm);
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const { tokens, apiUrls } = cluster;
    const disturbed = await measureDisturbed(cluster, victim, attacker, { apiUrls, tokens, names, seconds });
    logProgress(`measured ${seconds} s with the bad neighbours: ${names.join(", ")}`);
    logErrors(disturbed.measured);
    const findings = {
      operations: compareOperations(calm, disturbed.measured),
      readiness: disturbed.watch.readiness,
      processes: disturbed.watch.processes,
      attacks: disturbed.report,
      machine: { stolen: disturbed.cpu.stolen_share, idle: disturbed.cpu.idle_share },
    };
    const { problems, notJudged } = judge(findings);
    return {
      seconds,
      ...findings,
      cpu: disturbed.cpu,
      /** How late the clients that measure were themselves. */
      client_lag_p99_ms: Math.round(delay.percentile(99) / 1e6),
      problems,
      not_judged: notJudged,
    };
  } finally {
    await victim.close();
  }
}

/** Serves one organisation beside a free and a paying one that do their worst, and returns whether it noticed nothing. */
export async function runNeighbour(options: NeighbourOptions): Promise<boolean> {
  const attacker = fork(join(import.meta.dirname, "neighbour-attacker.ts"));
  const [servers, cluster] = await Promise.all([receiveServers(attacker), startNeighbourCluster()]);
  const stop = async () => {
    if (attacker.connected) attacker.disconnect();
    await cluster.stop();
  };
  interruption.signal.addEventListener("abort", () => void stop().finally(() => process.exit(130)));
  try {
    const result = await compare(cluster, attacker, servers, options);
    if (options.json) console.log(JSON.stringify(result));
    else console.dir(result, { depth: 5 });
    for (const line of [...result.not_judged, ...result.problems]) logProgress(line);
    return result.problems.length === 0;
  } finally {
    await stop();
  }
}
