import type { MetricSeries } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { type Granularity, usualGranularity } from "../parts/granularity.ts";
import { resolveRange } from "../parts/time-range.ts";
import { intervalMinutes, trafficOf } from "./agent-traffic.ts";
import { perch } from "./perch.ts";

type Values = readonly (number | null)[];

/** The runs of one agent over a range, in intervals. Null if an interval has no runs. */
export interface AgentHistory {
  readonly granularity: Granularity;
  /** Beginning of each interval, in seconds. */
  readonly times: readonly number[];
  /** Requests per minute. */
  readonly throughput: Values;
  readonly errorRate: Values;
  readonly p95Ms: Values;
  readonly tokens: Values;
  readonly runs: number;
  readonly failedRate: number;
}

export interface DetailedHistory extends AgentHistory {
  /** Undefined means all versions. */
  readonly version: string | undefined;
  readonly averageMs: Values;
  readonly p50Ms: Values;
  readonly p99Ms: Values;
  /** In US dollars. */
  readonly cost: Values;
}

interface HistoryQuery {
  readonly agent: string;
  readonly range: string | undefined;
  readonly environment: string | undefined;
}

interface DetailedHistoryQuery extends HistoryQuery {
  /** Undefined chooses the granularity that fits the range. */
  readonly granularity: Granularity | undefined;
  /** Each version has its own history over the same intervals. Undefined means all versions together. */
  readonly versions: readonly (string | undefined)[];
}

type Statistic = NonNullable<MetricSeries["statistic"]>;

type ReadSeries = (metric: MetricSeries["metric"], statistic?: Statistic) => Promise<MetricSeries>;

/** Asks for series of the same intervals. */
const seriesReader = ({ agent, range, environment }: HistoryQuery, signal: AbortSignal) => {
  const { start, end = new Date() } = resolveRange(range, new Date());
  const times = { start_time: start.toISOString(), end_time: end.toISOString() };
  const usual = usualGranularity(end.getTime() - start.getTime());
  return (version?: string, granularity: Granularity = usual): ReadSeries =>
    (metric, statistic) =>
      perch.metrics.get(agent, { ...times, environment, version, granularity, metric, statistic }, { signal });
};

const valuesOf = ({ values }: MetricSeries): number[] => values.map(({ value }) => value);

/** The API reports 0 for an interval without runs. The chart shows a gap there, because nothing was measured. */
const orGap = (series: MetricSeries, throughput: Values): Values =>
  valuesOf(series).map((value, index) => ((throughput[index] ?? null) === null ? null : value));

async function fetchHistory(read: ReadSeries): Promise<AgentHistory> {
  const [throughput, errorRate, p95, tokens] = await Promise.all([
    read("throughput"),
    read("error_rate"),
    read("response_time", "p95"),
    read("tokens"),
  ]);
  const { granularity } = throughput;
  const traffic = trafficOf(valuesOf(throughput), valuesOf(errorRate), intervalMinutes[granularity]);
  return {
    granularity,
    times: throughput.values.map(({ timestamp }) => Date.parse(timestamp) / 1000),
    throughput: traffic.throughput,
    errorRate: traffic.errorRates,
    p95Ms: orGap(p95, traffic.throughput),
    tokens: orGap(tokens, traffic.throughput),
    runs: traffic.runs,
    failedRate: traffic.errorRate,
  };
}

export const historyQuery = (query: HistoryQuery) =>
  queryOptions({
    queryKey: ["metrics", "history", query],
    queryFn: ({ signal }) => fetchHistory(seriesReader(query, signal)()),
    staleTime: 30_000,
    refetchInterval: 60_000,
  });

async function fetchDetails(version: string | undefined, read: ReadSeries): Promise<DetailedHistory> {
  const [history, average, p50, p99, cost] = await Promise.all([
    fetchHistory(read),
    read("response_time", "avg"),
    read("response_time", "p50"),
    read("response_time", "p99"),
    read("cost"),
  ]);
  const { throughput } = history;
  return {
    ...history,
    version,
    averageMs: orGap(average, throughput),
    p50Ms: orGap(p50, throughput),
    p99Ms: orGap(p99, throughput),
    cost: orGap(cost, throughput),
  };
}

/** One query per version: each takes eight requests, and all viewers share the organisation's console limit. */
const refreshMs = 60_000;

/** The same with all statistics of the run time, and cost. A range that is over does not change any more. */
export const detailedHistoryQuery = (query: DetailedHistoryQuery) =>
  queryOptions({
    queryKey: ["metrics", "detailed history", query],
    queryFn: ({ signal }) => {
      const readerOf = seriesReader(query, signal);
      const { granularity, versions } = query;
      return Promise.all(versions.map((version) => fetchDetails(version, readerOf(version, granularity))));
    },
    staleTime: 30_000,
    refetchInterval: () => {
      const { end } = resolveRange(query.range, new Date());
      return end !== undefined && end < new Date() ? false : refreshMs * query.versions.length;
    },
  });
