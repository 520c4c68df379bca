import type { MetricSeries } from "@perch/sdk";
import { command } from "../command.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { chart } from "../output/chart.ts";
import { parseSince } from "../output/duration.ts";
import { time } from "../output/text.ts";
import { UsageError } from "../problem.ts";
import type { Terminal } from "../terminal.ts";

const names = ["response_time", "throughput", "error_rate", "tokens", "cost"] as const;
const defaultMetrics = ["throughput", "response_time", "error_rate"] as const;
type Name = (typeof names)[number];

function printSeries(terminal: Terminal, { metric, statistic, granularity, values }: MetricSeries): void {
  const numbers = values.map(({ value }) => value);
  const unit = values[0]?.unit ?? "";
  const title = [metric, statistic, unit && `in ${unit}`, `by ${granularity}`].filter(Boolean).join(" ");
  const latest = values.at(-1)?.value ?? 0;
  terminal.line(
    terminal.style("bold", title) + terminal.style("dim", `  highest ${Math.max(...numbers, 0)}, latest ${latest}`),
  );
  for (const row of chart(numbers, Math.min(terminal.columns, 100))) terminal.line(terminal.style("cyan", row));
  const [first, last] = [values[0], values.at(-1)];
  if (first && last) terminal.line(terminal.style("dim", `${time(first.timestamp)} to ${time(last.timestamp)} UTC`));
}

export const metrics = command({
  name: "metrics",
  summary: "Show charts of an agent's metrics: throughput, response_time and error_rate, or a given one.",
  args: ["agent", "metric?"],
  options: {
    since: { type: "string", value: "TIME", help: "A duration such as 2h, or a time. Default: 1h." },
    granularity: {
      type: "string",
      choices: ["1m", "5m", "1h", "1d"],
      help: "Length of an interval. Default: by the range.",
    },
    statistic: {
      type: "string",
      choices: ["avg", "p50", "p95", "p99"],
      help: "Statistic of response_time. Default: avg.",
    },
    environment: { type: "string", value: "NAME", help: "Only runs of this environment." },
    "agent-version": { type: "string", value: "LABEL", help: "Only runs of this version." },
  },
  examples: ["perch metrics support", "perch metrics support response_time --statistic p95 --since 7d"],
  run: async ({ perch, terminal, show, signal }, { agent, metric }, options) => {
    const { since = "1h", granularity, statistic, environment } = options;
    if (metric !== undefined && !names.includes(metric as Name))
      throw new UsageError(`perch metrics: a metric is one of ${names.join(", ")}.`);
    const start_time = parseSince("since", since);
    const shared = omitUndefined({ granularity, environment, version: options["agent-version"] });
    const series: MetricSeries[] = [];
    for (const name of metric === undefined ? defaultMetrics : [metric as Name]) {
      const own = name === "response_time" ? omitUndefined({ statistic }) : {};
      series.push(await perch().metrics.get(agent, { metric: name, start_time, ...shared, ...own }, { signal }));
    }
    show(metric === undefined ? series : series[0], () => {
      for (const [index, one] of series.entries()) {
        if (index > 0) terminal.line();
        printSeries(terminal, one);
      }
    });
  },
});
