import { Gauge, type Registry } from "prom-client";

export interface ReleaseMetrics {
  readonly watchRegistration: (turn: () => number | undefined) => void;
}

/** Only workers have it: an API node has no release that runs could end on. */
export const createReleaseMetrics = (registry: Registry): ReleaseMetrics => ({
  watchRegistration: (turn) => {
    registry.removeSingleMetric("perch_worker_takes_new_runs");
    new Gauge({
      name: "perch_worker_takes_new_runs",
      help: "1 in a worker whose release takes new runs and is registered with the engine, 0 in one that only ends runs of an earlier release.",
      registers: [registry],
      collect() {
        this.set(turn() === undefined ? 0 : 1);
      },
    });
  },
});
