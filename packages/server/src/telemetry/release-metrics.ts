import { Gauge, type Registry } from "prom-client";

export interface ReleaseMetrics {
  readonly watchRegistration: (registration: Registration) => void;
  readonly watchRuns: (count: () => number) => void;
}

interface Registration {
  readonly turn: () => number | undefined;
  readonly runsWithoutWorkers: () => number;
}

interface Watched {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

/** Only workers have these: an API node has no release that runs could end on. */
export function createReleaseMetrics(registry: Registry): ReleaseMetrics {
  const watch = ({ name, help, read }: Watched): void => {
    registry.removeSingleMetric(name);
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  return {
    watchRegistration: ({ turn, runsWithoutWorkers }) => {
      watch({
        name: "perch_runs_without_workers",
        help: "Runs that can end only on a release, or at an address, where no worker answers. Every worker counts the same runs, every 30 s.",
        read: runsWithoutWorkers,
      });
      watch({
        name: "perch_worker_takes_new_runs",
        help: "1 in a worker whose release takes new runs and is registered with the engine, 0 in one that only ends runs of an earlier release.",
        read: () => (turn() === undefined ? 0 : 1),
      });
    },
    watchRuns: (count) =>
      watch({
        name: "perch_worker_runs_under_way",
        help: "Runs that the engine has given to this worker and that have neither ended nor been suspended. The number of workers can follow it.",
        read: count,
      }),
  };
}
