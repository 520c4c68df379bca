import type { Deployment } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import { deploymentsQuery } from "../../../api/deployments-queries.ts";
import { type AgentHistory, historyQuery } from "../../../api/metrics-queries.ts";
import { formatCount, formatDuration } from "../../../parts/duration.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import type { ChartMark } from "../../../parts/time-chart-options.ts";
import { rangeLabel } from "../../../parts/time-range.ts";
import { Working } from "../../../parts/working.tsx";
import { HistoryTable } from "./history-table.tsx";

const TimeChart = lazy(async () => ({ default: (await import("../../../parts/time-chart.tsx")).TimeChart }));

const percent = (rate: number): string => `${(rate * 100).toFixed(rate > 0 && rate < 0.1 ? 1 : 0)} %`;
const perMinute = (value: number): string => `${value >= 10 ? Math.round(value) : Number(value.toFixed(2))}/min`;
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

const numbers = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);
const largest = (values: readonly (number | null)[]): number => Math.max(0, ...numbers(values));
const total = (values: readonly (number | null)[]): number => numbers(values).reduce((sum, value) => sum + value, 0);

/** Deployments that took effect in what is shown. */
const marksOf = (deployments: readonly Deployment[], environment: string | undefined): ChartMark[] =>
  deployments.flatMap((one) =>
    one.activated_at !== null && (environment === undefined || one.environment === environment)
      ? [{ atSeconds: Date.parse(one.activated_at) / 1000, label: one.version }]
      : [],
  );

interface FourChartsProps {
  readonly history: AgentHistory;
  readonly marks: readonly ChartMark[];
}

const FourCharts = ({ history, marks }: FourChartsProps) => {
  const { times, throughput, errorRate, p95Ms, tokens } = history;
  const common = { times, marks };
  return (
    <div className="grid gap-x-6 gap-y-4 lg:grid-cols-2">
      <TimeChart
        {...common}
        title="Throughput"
        summary={`${formatCount(history.runs)} runs`}
        series={[{ label: "Requests per minute", values: throughput, tone: "accent" }]}
        format={perMinute}
      />
      <TimeChart
        {...common}
        title="Error rate"
        summary={history.runs > 0 ? percent(history.failedRate) : "no runs"}
        series={[{ label: "Error rate", values: errorRate, tone: "danger" }]}
        format={percent}
      />
      <TimeChart
        {...common}
        title="Run time, 95th percentile"
        summary={history.runs > 0 ? `up to ${formatDuration(largest(p95Ms))}` : "no runs"}
        series={[{ label: "95th percentile", values: p95Ms, tone: "accent" }]}
        format={formatDuration}
      />
      <TimeChart
        {...common}
        title="Tokens"
        summary={formatCount(total(tokens))}
        series={[{ label: "Tokens", values: tokens, tone: "accent" }]}
        format={(value) => short.format(value)}
      />
    </div>
  );
};

/** Traffic, errors, run times and tokens of the chosen range, with the deployments that may explain them. */
export function Charts({ agent }: { readonly agent: string }) {
  const { env, range } = useSearch({ strict: false });
  const { data: history, error, refetch } = useQuery(historyQuery({ agent, range, environment: env }));
  const { data: deployments } = useQuery(deploymentsQuery(agent));
  const marks = useMemo(() => marksOf(deployments ?? [], env), [deployments, env]);
  return (
    <section aria-labelledby="charts-title" className="flex flex-col gap-3">
      <h2 id="charts-title" className="text-body">
        {rangeLabel(range)}
        {env !== undefined && ` in ${env}`}
      </h2>
      {error && !history ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : history ? (
        <Suspense fallback={<Working what="the charts" />}>
          <FourCharts history={history} marks={marks} />
          <HistoryTable history={history} />
        </Suspense>
      ) : (
        <Working what="the metrics" />
      )}
    </section>
  );
}
