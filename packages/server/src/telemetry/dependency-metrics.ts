import { setTimeout as sleep } from "node:timers/promises";
import { Counter, Gauge, type Registry } from "prom-client";

type Dependency = "database" | "engine" | "valkey";
type Probe = () => Promise<unknown>;

interface Pool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

export interface DependencyMetrics {
  /** A call to the engine failed, and is retried or given up. */
  readonly engineFailed: () => void;
  /** Probed on every scrape, so it is current for idle processes too. A probe that throws or times out counts as down. */
  readonly watchDependency: (dependency: Dependency, probe: Probe) => void;
  readonly watchPool: (pool: Pool) => void;
}

const probeTimeoutMs = 1000;

async function isUp(probe: Probe): Promise<boolean> {
  const overdue = new AbortController();
  try {
    await Promise.race([
      probe(),
      sleep(probeTimeoutMs, undefined, { signal: overdue.signal }).then(() => {
        throw new Error(`no answer within ${probeTimeoutMs} ms`);
      }),
    ]);
    return true;
  } catch {
    return false;
  } finally {
    overdue.abort();
  }
}

export function createDependencyMetrics(registry: Registry): DependencyMetrics {
  const registers = [registry];
  const probes: { readonly dependency: Dependency; readonly probe: Probe }[] = [];
  let pool: Pool = { totalCount: 0, idleCount: 0, waitingCount: 0 };
  const engineFailures = new Counter({
    name: "perch_engine_failures_total",
    help: "Failed requests from this process to the engine, including those that are retried.",
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
  const poolGauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  poolGauge("perch_database_connections", "Open database connections of this process.", () => pool.totalCount);
  poolGauge(
    "perch_database_connections_idle",
    "Database connections of this process that are idle.",
    () => pool.idleCount,
  );
  poolGauge(
    "perch_database_pending_requests",
    "Queries and transactions waiting for a database connection.",
    () => pool.waitingCount,
  );

  return {
    engineFailed: () => engineFailures.inc(),
    watchDependency: (dependency, probe) => void probes.push({ dependency, probe }),
    watchPool: (watched) => {
      pool = watched;
    },
  };
}
