import type { MetricSeries } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { isOver, rangeOf, type Trial } from "./canary-trial.ts";
import { perch } from "./perch.ts";

/** The runs of one version in intervals. Null if the version had no runs. */
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

const valuesOf = (series: MetricSeries): readonly number[] => series.values.map(({ value }) => value);

/** The polling interval. It is short, so that new runs of an active canary appear soon. */
const pollMs = 5000;

export const canaryHistoryQuery = (agent: string, trial: Trial) =>
  queryOptions({
    queryKey: ["metrics", "canary", agent, trial.canary.id, trial.live?.version],
    queryFn: async ({ signal }): Promise<CanaryHistory> => {
      const { canary, live } = trial;
      const range = { ...rangeOf(trial, Date.now()), environment: canary.environment };
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
      const [ofCanary, ofLive] = await Promise.all([curveOf(canary.version), live && curveOf(live.version)]);
      return { times: ofCanary.times, canary: ofCanary.curve, live: ofLive?.curve };
    },
    refetchInterval: () => (isOver(trial, Date.now()) ? false : pollMs),
  });
