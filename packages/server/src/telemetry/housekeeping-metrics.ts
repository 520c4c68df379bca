import { Counter, Gauge, Histogram, type Registry } from "prom-client";

interface Step {
  readonly name: string;
  readonly run: () => Promise<void>;
}

export interface HousekeepingMetrics {
  /** The steps, each timed. Only workers call it. */
  readonly timeHousekeeping: <T extends Step>(steps: readonly T[]) => Step[];
  /** Counts deleted rows of these tables. Only workers call it. */
  readonly countPurgedRows: <T extends string>(tables: readonly T[]) => (table: T, rows: number) => void;
}

const stepSeconds = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300];

export const createHousekeepingMetrics = (registry: Registry): HousekeepingMetrics => ({
  timeHousekeeping: (steps) => {
    const registers = [registry];
    const labelNames = ["step"];
    const durations = new Histogram({
      name: "perch_housekeeping_step_duration_seconds",
      help: "Time that a step of the hourly housekeeping took, by step.",
      labelNames,
      buckets: stepSeconds,
      registers,
    });
    const ends = new Gauge({
      name: "perch_housekeeping_last_success_timestamp_seconds",
      help: "When this process last ended a step of the hourly housekeeping, by step. One worker does it for all.",
      labelNames,
      registers,
    });
    return steps.map(({ name, run }) => ({
      name,
      run: async () => {
        const ended = durations.startTimer({ step: name });
        await run();
        ended();
        ends.setToCurrentTime({ step: name });
      },
    }));
  },
  countPurgedRows: (tables) => {
    const purged = new Counter({
      name: "perch_purged_rows_total",
      help: "Rows that housekeeping deleted because nothing needs them any more, by table. Rows of dropped partitions are not counted.",
      labelNames: ["table"],
      registers: [registry],
    });
    for (const table of tables) purged.inc({ table }, 0);
    return (table, rows) => purged.inc({ table }, rows);
  },
});
