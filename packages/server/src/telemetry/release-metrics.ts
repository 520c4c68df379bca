import { Gauge, type Registry } from "prom-client";

export interface ReleaseMetrics {
  readonly watchRegistration: (registration: Registration) => void;
}

interface Registration {
  readonly turn: () => number | undefined;
  readonly runsWithoutWorkers: () => number;
}

/** Only workers have it: an API node has no release that runs could end on. */
export const createReleaseMetrics = (registry: Registry): ReleaseMetrics => ({
  watchRegistration: ({ turn, runsWithoutWorkers }) => {
    const registers = [registry];
    for (const name of ["perch_runs_without_workers", "perch_worker_takes_new_runs"]) registry.removeSingleMetric(name);
    new Gauge({
      name: "perch_runs_without_workers",
      help: "Runs that can end only on a release, or at an address, where no worker answers. Every worker counts the same runs, every 30 s.",
      registers,
      collect() {
        this.set(runsWithoutWorkers());
      },
    });
    new Gauge({
      name: "perch_worker_takes_new_runs",
      help: "1 in a worker whose release takes new runs and is registered with the engine, 0 in one that only ends runs of an earlier release.",
      registers,
      collect() {
        this.set(turn() === undefined ? 0 : 1);
      },
    });
  },
});
