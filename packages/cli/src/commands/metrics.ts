import type { MetricSeries } from "@perch/sdk";
import { command } from "../command.ts";
import { didYouMean } from "../nearest.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { chart } from "../output/chart.ts";
import { parseSince } from "../output/duration.ts";
import { spaced } from "../output/text.ts";
import type { FormatTime } from "../output/time.ts";
import { UsageError } from "../problem.ts";
import type { Terminal } from "../terminal.ts";

const names = ["response_time", "throughput", "error_rate", "tokens", "cost"] as const;
const defaultMetrics = ["throughput", "response_time", "error_rate"] as const;
type Name = (typeof names)[number];
/** As they are typed; the API's names are understood, too. */
const shownNames = names.map((name) => name.replaceAll("_", "-"));

function printSeries(
  terminal: Terminal,
  time: FormatTime,
  { metric, statistic, granularity, values }: MetricSeries,
): void {
  const numbers = values.map(({ value }) => value);
  const unit = values[0]?.unit ?? "";
  const title = [spaced(metric), statistic, unit && `in ${unit}`, `by ${granularity}`].filter(Boolean).join(" ");
  const latest = values.at(-1)?.value ?? 0;
  terminal.line(
    terminal.style("bold", title) + terminal.style("dim", `  highest ${Math.max(...numbers, 0)}, latest ${latest}`),
  );
  for (const row of chart(numbers, Math.min(terminal.columns, 100))) terminal.line(terminal.style("cyan", row));
  const [first, last] = [values[0], values.at(-1)];
  if (first && last) terminal.line(terminal.style("dim", `${time(first.timestamp)} to ${time(last.timestamp)}`));
}

export const metrics = command({
  name: "metrics",
  summary: "Draw an agent's throughput, response time and error rate, or one metric.",
  details: `A metric is one of ${shownNames.join(", ")}.`,
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
      help: "Statistic of response-time. Default: avg.",
    },
    environment: { type: "string", value: "NAME", help: "Only runs of this environment." },
    "agent-version": { type: "string", value: "LABEL", help: "Only runs of this version." },
  },
  examples: ["perch metrics support", "perch metrics support response-time --statistic p95 --since 7d"],
  run: async ({ perch, terminal, show, signal, time }, { agent, metric: word }, options) => {
    const { since = "1h", granularity, statistic, environment } = options;
    const metric = word?.replaceAll("-", "_");
    if (metric !== undefined && !names.includes(metric as Name))
      throw new UsageError(
        `perch metrics: a metric is one of ${shownNames.join(", ")}.${didYouMean(word ?? "", shownNames)}`,
      );
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
        printSeries(terminal, time, one);
      }
    });
  },
});
