import type { Deployment, MetricSeries } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { granularityFor } from "../parts/granularity.ts";
import { perch } from "./perch.ts";

/** The runs of one version in intervals. Null where it had none. */
export interface VersionCurve {
  readonly errorRate: readonly (number | null)[];
  readonly p95Ms: readonly (number | null)[];
}

export interface CanaryHistory {
  /** Beginning of each interval, in seconds. */
  readonly times: readonly number[];
  readonly canary: VersionCurve;
  readonly live: VersionCurve | undefined;
}

/** What was before it shows what is usual, and what came after it shows that it is over. */
const marginMs = 600_000;

/** More intervals would have few runs each, and a rate of few runs says little. */
const maxIntervals = 96;

const rangeOf = ({ activated_at, created_at, ended_at }: Deployment) => {
  const now = Date.now();
  const end = ended_at === null ? now : Math.min(now, Date.parse(ended_at) + marginMs);
  const start = Date.parse(activated_at ?? created_at) - marginMs;
  return {
    granularity: granularityFor(end - start, maxIntervals),
    start_time: new Date(start).toISOString(),
    end_time: new Date(end).toISOString(),
  };
};

const valuesOf = (series: MetricSeries): readonly number[] => series.values.map(({ value }) => value);

/** The range of its charts is complete. When it ends, its last runs are not in the metrics yet. */
const isOver = ({ ended_at }: Deployment): boolean => ended_at !== null && Date.now() > Date.parse(ended_at) + marginMs;

/** How long between two looks: new runs of a canary under way are seen soon. */
const pollMs = 5000;

export const canaryHistoryQuery = (agent: string, canary: Deployment, live: string | undefined) =>
  queryOptions({
    queryKey: ["metrics", "canary", agent, canary.id, live],
    queryFn: async ({ signal }): Promise<CanaryHistory> => {
      const range = { ...rangeOf(canary), environment: canary.environment };
      const get = (version: string, metric: MetricSeries["metric"], statistic?: "p95") =>
        perch.metrics.get(agent, { ...range, version, metric, statistic }, { signal });
      const curveOf = async (version: string) => {
        const [throughput, errorRate, p95] = await Promise.all([
          get(version, "throughput"),
          get(version, "error_rate"),
          get(version, "response_time", "p95"),
        ]);
        const hasRuns = valuesOf(throughput);
        const orGap = (series: MetricSeries) => valuesOf(series).map((value, index) => (hasRuns[index] ? value : null));
        const times = throughput.values.map(({ timestamp }) => Date.parse(timestamp) / 1000);
        return { times, curve: { errorRate: orGap(errorRate), p95Ms: orGap(p95) } };
      };
      const [ofCanary, ofLive] = await Promise.all([
        curveOf(canary.version),
        live === undefined ? undefined : curveOf(live),
      ]);
      return { times: ofCanary.times, canary: ofCanary.curve, live: ofLive?.curve };
    },
    refetchInterval: () => (isOver(canary) ? false : pollMs),
  });
