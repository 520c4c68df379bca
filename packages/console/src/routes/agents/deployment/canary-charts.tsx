import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo } from "react";
import { canaryHistoryQuery, type VersionCurve } from "../../../api/canary-queries.ts";
import type { Trial } from "../../../api/canary-trial.ts";
import { formatDuration } from "../../../parts/duration.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import type { ChartMark } from "../../../parts/time-chart-options.ts";
import { ValuesTable } from "../../../parts/values-table.tsx";
import { Working } from "../../../parts/working.tsx";

const TimeChart = lazy(async () => ({ default: (await import("../../../parts/time-chart.tsx")).TimeChart }));

const percent = (rate: number): string => `${(rate * 100).toFixed(rate > 0 && rate < 0.1 ? 1 : 0)} %`;
const largest = (values: readonly (number | null)[]): number =>
  Math.max(0, ...values.filter((value) => value !== null));

const marksOf = ({ canary, startedAt, endedAt, isPromoted }: Trial): ChartMark[] => [
  { atSeconds: Date.parse(startedAt) / 1000, label: `${canary.version} begins` },
  ...(endedAt === null ? [] : [{ atSeconds: Date.parse(endedAt) / 1000, label: isPromoted ? "promoted" : "ends" }]),
];

interface CanaryChartsProps {
  readonly agent: string;
  readonly trial: Trial;
}

/** The canary and the live version as two lines in each chart: error rate and run time. */
export function CanaryCharts({ agent, trial }: CanaryChartsProps) {
  const { data, error, refetch } = useQuery(canaryHistoryQuery(agent, trial));
  const { canary, live } = trial;
  const marks = useMemo(() => marksOf(trial), [trial]);
  const series = useMemo(() => {
    const of = (pick: (curve: VersionCurve) => readonly (number | null)[]) => [
      ...(data ? [{ label: `${canary.version}, canary`, values: pick(data.canary), tone: "canary" as const }] : []),
      ...(data?.live && live
        ? [
            {
              label: `${live.version}, ${live.ended_at === null ? "live" : "live then"}`,
              values: pick(data.live),
              tone: "accent" as const,
            },
          ]
        : []),
    ];
    return { errorRate: of(({ errorRate }) => errorRate), p95Ms: of(({ p95Ms }) => p95Ms) };
  }, [data, canary.version, live]);
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Working what="the metrics" />;
  const common = { times: data.times, marks, keptSince: undefined };
  const columns = [
    ...series.errorRate.map((one) => ({ title: `Error rate of ${one.label}`, values: one.values, format: percent })),
    ...series.p95Ms.map((one) => ({ title: `Run time of ${one.label}`, values: one.values, format: formatDuration })),
  ];
  return (
    <Suspense fallback={<Working what="the charts" />}>
      <div className="grid gap-x-6 gap-y-4 lg:grid-cols-2">
        <TimeChart
          {...common}
          title="Error rate"
          summary={`up to ${percent(largest(data.canary.errorRate))} of the canary's runs`}
          series={series.errorRate}
          format={percent}
        />
        <TimeChart
          {...common}
          title="Run time, 95th percentile"
          summary={`up to ${formatDuration(largest(data.canary.p95Ms))} for the canary`}
          series={series.p95Ms}
          format={formatDuration}
        />
      </div>
      <ValuesTable times={data.times} columns={columns} />
    </Suspense>
  );
}
