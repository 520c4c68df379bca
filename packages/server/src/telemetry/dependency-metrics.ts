import { Counter, Gauge, type Registry } from "prom-client";
import { type DependencyName, healthChecks } from "../platform/health-checks.ts";
import { withinLimit } from "../platform/within-limit.ts";

type Probe = () => Promise<unknown>;

interface Pool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

export interface DependencyMetrics {
  /** A call to the engine failed, and is retried or given up. */
  readonly engineFailed: () => void;
  readonly engineTasksCounted: (waiting: number) => void;
  /** Probed on every scrape, so it is current for idle processes too. A probe that throws or times out counts as down. */
  readonly watchDependency: (dependency: DependencyName, probe: Probe) => void;
  /** The engine works while one of its nodes answers, and each is probed: the metric has them by their number, from 1 on. */
  readonly watchEngineNodes: (probes: readonly Probe[]) => void;
  readonly watchPools: (pools: readonly Pool[]) => void;
}

const probeTimeoutMs = 1000;

const isUp = (probe: Probe): Promise<boolean> =>
  withinLimit(probeTimeoutMs, probe).then(
    () => true,
    () => false,
  );

export function createDependencyMetrics(registry: Registry): DependencyMetrics {
  const registers = [registry];
  const probes: { readonly dependency: DependencyName; readonly probe: Probe }[] = [];
  let pools: readonly Pool[] = [];
  const engineFailures = new Counter({
    name: "perch_engine_failures_total",
    help: "Failed requests from this process to the engine, including those that are retried.",
    registers,
  });
  const engineTasks = new Gauge({
    name: "perch_engine_tasks_waiting",
    help: "Tasks of all organisations, 1,000 at most, that were committed more than five seconds ago and that the engine does not have yet. Every process counts the same tasks, once a second.",
    registers,
  });
  new Gauge({
    name: "perch_dependency_up",
    help: "1 if the dependency answered this process within one second, else 0. Checked on every scrape; the database through its connection pool.",
    labelNames: ["dependency"],
    registers,
    async collect() {
      const states = await Promise.all(probes.map(async ({ probe }) => isUp(probe)));
      const down = new Set(probes.filter((_, i) => !states[i]).map(({ dependency }) => dependency));
      for (const { dependency } of probes) this.set({ dependency }, down.has(dependency) ? 0 : 1);
    },
  });
  const nodeProbes: (readonly Probe[])[] = [];
  new Gauge({
    name: "perch_engine_node_up",
    help: "1 if this node of the engine answered this process within one second, else 0. Checked on every scrape. Nodes are numbered in the order of their URLs in the configuration.",
    labelNames: ["node"],
    registers,
    async collect() {
      const lists = await Promise.all(nodeProbes.map((probes) => Promise.all(probes.map(isUp))));
      const count = Math.max(0, ...lists.map((states) => states.length));
      for (let i = 0; i < count; i++)
        this.set({ node: String(i + 1) }, lists.every((states) => states[i] ?? true) ? 1 : 0);
    },
  });
  const poolGauge = (name: string, help: string, read: (pool: Pool) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(pools.reduce((sum, pool) => sum + read(pool), 0));
      },
    });
  poolGauge("perch_database_connections", "Open database connections of this process.", (pool) => pool.totalCount);
  poolGauge(
    "perch_database_connections_idle",
    "Database connections of this process that are idle.",
    (pool) => pool.idleCount,
  );
  poolGauge(
    "perch_database_pending_requests",
    "Queries and transactions waiting for a database connection.",
    // The pool hands out idle connections only in the next tick: the probe of this very scrape would always be counted.
    (pool) => Math.max(0, pool.waitingCount - pool.idleCount),
  );

  return {
    engineFailed: () => engineFailures.inc(),
    engineTasksCounted: (waiting) => engineTasks.set(waiting),
    watchDependency: (dependency, probe) => void probes.push({ dependency, probe }),
    watchEngineNodes: (watched) => {
      nodeProbes.push(watched);
      probes.push({
        dependency: healthChecks.engine.forms.metrics,
        probe: () => Promise.any(watched.map((probe) => probe())),
      });
    },
    watchPools: (watched) => {
      pools = watched;
    },
  };
}
