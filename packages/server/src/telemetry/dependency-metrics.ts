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
  /** The engine gave no proper answer, and is asked again or given up. */
  readonly engineFailed: () => void;
  /** Asked whenever somebody reads the metrics, so it is true for idle processes too. A probe that throws, or is slow, says no. */
  readonly watchDependency: (dependency: Dependency, probe: Probe) => void;
  readonly watchPool: (pool: Pool) => void;
}

const probeMs = 1000;

async function answers(probe: Probe): Promise<boolean> {
  const overdue = new AbortController();
  try {
    await Promise.race([
      probe(),
      sleep(probeMs, undefined, { signal: overdue.signal }).then(() => {
        throw new Error(`no answer within ${probeMs} ms`);
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
    help: "Times the engine gave no proper answer to this process.",
    registers,
  });
  new Gauge({
    name: "perch_dependency_up",
    help: "1 if it answered this process just now, within a second. The database is asked through the pool.",
    labelNames: ["dependency"],
    registers,
    async collect() {
      const states = await Promise.all(probes.map(async ({ probe }) => answers(probe)));
      const away = new Set(probes.filter((_, i) => !states[i]).map(({ dependency }) => dependency));
      for (const { dependency } of probes) this.set({ dependency }, away.has(dependency) ? 0 : 1);
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
  poolGauge("perch_database_connections", "Database connections of this process.", () => pool.totalCount);
  poolGauge("perch_database_connections_idle", "Those that nobody uses.", () => pool.idleCount);
  poolGauge("perch_database_waiting", "Queries and transactions that wait for a connection.", () => pool.waitingCount);

  return {
    engineFailed: () => engineFailures.inc(),
    watchDependency: (dependency, probe) => void probes.push({ dependency, probe }),
    watchPool: (watched) => {
      pool = watched;
    },
  };
}
