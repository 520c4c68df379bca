import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import { type AgentHistory, historyQuery } from "../../../api/agent-history-queries.ts";
import { deploymentsAroundQuery } from "../../../api/deployments-queries.ts";
import { KeptDays, useKeptSince } from "../../../lists/kept-days.tsx";
import { formatCount, formatDuration } from "../../../parts/duration.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { formatPercent, formatPerMinute, formatRuns, formatShort, largestOf, totalOf } from "../../../parts/figures.ts";
import type { ChartMark } from "../../../parts/time-chart-options.ts";
import { rangeLabel } from "../../../parts/time-range.ts";
import { type ValuesColumn, ValuesTable } from "../../../parts/values-table.tsx";
import { Working } from "../../../parts/working.tsx";
import { marksOf } from "../deployments/deployment-marks.ts";

const TimeChart = lazy(async () => ({ default: (await import("../../../parts/time-chart.tsx")).TimeChart }));

const columnsOf = ({ throughput, errorRate, p95Ms, tokens }: AgentHistory): ValuesColumn[] => [
  { title: "Requests per minute", values: throughput, format: (value) => value.toFixed(2) },
  { title: "Error rate", values: errorRate, format: formatPercent },
  { title: "95th percentile", values: p95Ms, format: formatDuration },
  { title: "Tokens", values: tokens, format: formatCount },
];

interface FourChartsProps {
  readonly history: AgentHistory;
  readonly marks: readonly ChartMark[];
  readonly keptSince: Date | undefined;
}

const FourCharts = ({ history, marks, keptSince }: FourChartsProps) => {
  const { times, throughput, errorRate, p95Ms, tokens } = history;
  const common = { times, marks, keptSince };
  return (
    <div className="grid gap-x-6 gap-y-4 lg:grid-cols-2">
      <TimeChart
        {...common}
        title="Throughput"
        summary={formatRuns(history.runs)}
        series={[{ label: "Requests per minute", values: throughput, tone: "accent" }]}
        format={formatPerMinute}
      />
      <TimeChart
        {...common}
        title="Error rate"
        summary={history.runs > 0 ? formatPercent(history.failedRate) : "no runs"}
        series={[{ label: "Error rate", values: errorRate, tone: "danger" }]}
        format={formatPercent}
      />
      <TimeChart
        {...common}
        title="Run time, 95th percentile"
        summary={history.runs > 0 ? `up to ${formatDuration(largestOf(p95Ms))}` : "no runs"}
        series={[{ label: "95th percentile", values: p95Ms, tone: "accent" }]}
        format={formatDuration}
      />
      <TimeChart
        {...common}
        title="Tokens"
        summary={formatCount(totalOf(tokens))}
        series={[{ label: "Tokens", values: tokens, tone: "accent" }]}
        format={formatShort}
      />
    </div>
  );
};

/** Traffic, errors, run times and tokens of the chosen range, with the deployments that may explain them. */
export function Charts({ agent }: { readonly agent: string }) {
  const { env, range } = useSearch({ strict: false });
  const { data: history, error, refetch } = useQuery(historyQuery({ agent, range, environment: env }));
  const { data: deployments } = useQuery(deploymentsAroundQuery({ agent, environment: env, range }));
  const keptSince = useKeptSince(range);
  const marks = useMemo(() => marksOf(deployments ?? [], Date.now()), [deployments]);
  return (
    <section aria-labelledby="charts-title" className="flex flex-col gap-3">
      <h2 id="charts-title" className="text-body">
        {rangeLabel(range)}
        {env !== undefined && ` in ${env}`}
      </h2>
      <KeptDays range={range} />
      {error && !history ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : history ? (
        <Suspense fallback={<Working what="the charts" />}>
          <FourCharts history={history} marks={marks} keptSince={keptSince} />
          <ValuesTable times={history.times} columns={columnsOf(history)} />
        </Suspense>
      ) : (
        <Working what="the metrics" />
      )}
    </section>
  );
}
