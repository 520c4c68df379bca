import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { detailedHistoryQuery } from "../../api/agent-history-queries.ts";
import { deploymentsAroundQuery } from "../../api/deployments-queries.ts";
import { isNotFound } from "../../api/is-not-found.ts";
import { KeptDays, useKeptSince } from "../../lists/kept-days.tsx";
import { NoSuchAgent } from "../../lists/no-such-agent.tsx";
import { classNames } from "../../parts/class-names.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { granularityWords } from "../../parts/granularity.ts";
import { OutsideText } from "../../parts/outside-text.tsx";
import type { ChartMark } from "../../parts/time-chart-options.ts";
import { rangeLabel } from "../../parts/time-range.ts";
import { ValuesTable } from "../../parts/values-table.tsx";
import { Working } from "../../parts/working.tsx";
import { marksOf } from "../agents/deployments/deployment-marks.ts";
import { type ChartOfPage, chartsOf, columnsOf } from "./charts-of.ts";
import { chosenGranularity } from "./chosen-granularity.ts";

const TimeChart = lazy(async () => ({ default: (await import("../../parts/time-chart.tsx")).TimeChart }));

const route = getRouteApi("/signed-in/metrics");

interface ChartsProps {
  readonly charts: readonly ChartOfPage[];
  readonly times: readonly number[];
  readonly marks: readonly ChartMark[];
  readonly keptSince: Date | undefined;
}

const Charts = ({ charts, ...common }: ChartsProps) => (
  <div className="grid gap-x-6 gap-y-4 lg:grid-cols-2">
    {charts.map((chart) => (
      <div key={chart.title} className={chart.isTall ? "min-w-0 lg:col-span-2" : "min-w-0"}>
        <TimeChart {...chart} {...common} />
      </div>
    ))}
  </div>
);

interface UntilLoadedProps {
  readonly isOutdated: boolean;
  readonly children: ReactNode;
}

/** The previous charts stay in place, pale, until the new ones have loaded. */
const UntilLoaded = ({ isOutdated, children }: UntilLoadedProps) => (
  <div aria-busy={isOutdated} className="relative">
    {isOutdated && (
      <div className="absolute inset-x-0 top-8 z-10 text-center">
        <Working what="the metrics" />
      </div>
    )}
    <div
      className={classNames(
        "flex flex-col gap-3",
        // The delay avoids a flicker if the load is quick.
        isOutdated && "opacity-30 transition-opacity delay-400 duration-0",
      )}
    >
      {children}
    </div>
  </div>
);

/** The chosen version or all of them, and the one to compare with. */
function useHistories(agent: string) {
  const { range, env, version, compare, granularity } = route.useSearch();
  return useQuery({
    ...detailedHistoryQuery({
      ...{ agent, range, environment: env },
      granularity: chosenGranularity(granularity, range),
      versions: compare === undefined || compare === version ? [version] : [version, compare],
    }),
    placeholderData: keepPreviousData,
  });
}

/** All metrics of one agent, with the deployments that may explain them. */
export function AgentCharts({ agent }: { readonly agent: string }) {
  const { range, env, version, compare } = route.useSearch();
  const { data: histories, error, refetch, isPlaceholderData: isOutdated } = useHistories(agent);
  const { data: deployments } = useQuery(deploymentsAroundQuery({ agent, environment: env, range }));
  const marks = useMemo(() => marksOf(deployments ?? [], Date.now()), [deployments]);
  const keptSince = useKeptSince(range);
  const charts = useMemo(() => chartsOf(histories ?? []), [histories]);
  const columns = useMemo(() => columnsOf(charts), [charts]);
  const [first] = histories ?? [];
  if (isNotFound(error)) return <NoSuchAgent agent={agent} />;
  return (
    <section aria-labelledby="charts-title" className="flex flex-col gap-3 p-4">
      <h2 id="charts-title" className="text-body">
        <OutsideText text={agent} />
        {version !== undefined && (
          <>
            {" "}
            <OutsideText text={version} className="font-mono" />
          </>
        )}
        {compare !== undefined && (
          <>
            {" compared with "}
            <OutsideText text={compare} className="font-mono" />
          </>
        )}
        <span className="font-normal text-muted">
          {" · "}
          {rangeLabel(range)}
          {env !== undefined && (
            <>
              {" in "}
              <OutsideText text={env} />
            </>
          )}
          {first && !isOutdated && `, ${granularityWords(first.granularity)}`}
        </span>
      </h2>
      <KeptDays range={range} />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {first ? (
        <Suspense fallback={<Working what="the charts" />}>
          <UntilLoaded isOutdated={isOutdated}>
            <Charts charts={charts} times={first.times} marks={marks} keptSince={keptSince} />
            <ValuesTable times={first.times} columns={columns} />
          </UntilLoaded>
        </Suspense>
      ) : (
        !error && <Working what="the metrics" />
      )}
    </section>
  );
}
