import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { mergeMetrics } from "./supervisor-metrics.ts";

/** As one process reports them. */
function metricsOf(runs: number): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: "runs_total", help: "Runs, by end.", labelNames: ["end"], registers }).inc(
    { end: "a b, c" },
    runs,
  );
  new Gauge({ name: "lag_seconds", help: "Lag.", registers }).set(0.5);
  new Histogram({ name: "took_seconds", help: "Time.", buckets: [1], registers }).observe(runs);
  return registry.metrics();
}

test("the metrics of two processes are one text, in which each family is described once and each series says whose it is", async () => {
  const merged = mergeMetrics(
    new Map([
      ["work", await metricsOf(1)],
      ["serve", await metricsOf(2)],
      ["dead", ""],
    ]),
  );
  expect(merged).toBe(
    `# HELP runs_total Runs, by end.
# TYPE runs_total counter
runs_total{process="work",end="a b, c"} 1
runs_total{process="serve",end="a b, c"} 2

# HELP lag_seconds Lag.
# TYPE lag_seconds gauge
lag_seconds{process="work"} 0.5
lag_seconds{process="serve"} 0.5

# HELP took_seconds Time.
# TYPE took_seconds histogram
took_seconds_bucket{process="work",le="1"} 1
took_seconds_bucket{process="work",le="+Inf"} 1
took_seconds_sum{process="work"} 1
took_seconds_count{process="work"} 1
took_seconds_bucket{process="serve",le="1"} 0
took_seconds_bucket{process="serve",le="+Inf"} 1
took_seconds_sum{process="serve"} 2
took_seconds_count{process="serve"} 1
`,
  );
});
