import { type Granularity, granularities, granularitySeconds, type MetricSeries } from "@perch/contract";
import { invalid } from "../platform/api-error.ts";

const fewPoints = 300;
const mostPoints = 1500;

export interface Intervals {
  readonly granularity: Granularity;
  readonly seconds: number;
  /** The beginning of the first interval. */
  readonly from: Date;
  readonly until: Date;
  readonly starts: readonly number[];
}

const pointsOf = (fromMs: number, untilMs: number, seconds: number): number => {
  const ms = seconds * 1000;
  return Math.ceil((untilMs - Math.floor(fromMs / ms) * ms) / ms);
};

/** Every interval that the range touches, in UTC. The finest with few enough values, unless one is asked for. */
export function intervalsOf(
  range: { readonly from: Date; readonly until: Date },
  wanted: Granularity | undefined,
): Intervals {
  const [fromMs, untilMs] = [range.from.getTime(), range.until.getTime()];
  const finest = granularities.find((one) => pointsOf(fromMs, untilMs, granularitySeconds[one]) <= fewPoints) ?? "1d";
  const granularity = wanted ?? finest;
  const seconds = granularitySeconds[granularity];
  const points = pointsOf(fromMs, untilMs, seconds);
  if (points > mostPoints)
    throw invalid(
      wanted === undefined ? "start_time" : "granularity",
      `The range has ${points} intervals of ${granularity}, more than ${mostPoints}. Ask for a coarser one or a shorter range`,
    );
  const first = Math.floor(fromMs / (seconds * 1000)) * seconds * 1000;
  const starts = Array.from({ length: points }, (_, i) => first + i * seconds * 1000);
  return { granularity, seconds, from: new Date(first), until: range.until, starts };
}

export interface Sums {
  readonly sinceMs: number;
  readonly runs: number;
  readonly failed: number;
  readonly tokens: number;
  readonly costMicros: number;
  readonly durationMs: number;
}

const widerBy = 1.12;

/** The shortest run time, in whole milliseconds, of an interval of them (see duration_interval in the migrations). */
const shortestOf = (place: number): number => Math.ceil(widerBy ** (place - 1) - 1);

/** What is as far from the shortest of an interval as from the longest, in proportion: for short runs the very time. */
export function middleOf(place: number): number {
  const shortest = shortestOf(place);
  const longest = Math.max(shortest, shortestOf(place + 1) - 1);
  return longest === 0 ? 0 : (2 * shortest * longest) / (shortest + longest);
}

export interface Counted {
  readonly place: number;
  readonly count: number;
}

/** True to within 6 %: the middle of the interval that holds it. */
export function percentileOf(counts: readonly Counted[], q: number): number {
  const sorted = counts.toSorted((a, b) => a.place - b.place);
  const total = sorted.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return 0;
  let seen = 0;
  for (const { place, count } of sorted) {
    seen += count;
    if (seen >= Math.ceil(total * q)) return Math.round(middleOf(place) * 10) / 10;
  }
  return 0;
}

const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
export const units = {
  response_time: "ms",
  throughput: "requests/minute",
  error_rate: "ratio",
  tokens: "tokens",
  cost: "USD",
} as const satisfies Record<MetricSeries["metric"], string>;

export function metricValue(
  metric: MetricSeries["metric"],
  { runs, failed, tokens, durationMs, costMicros }: Sums,
  seconds: number,
): number {
  if (metric === "throughput") return rounded(runs / (seconds / 60));
  if (metric === "tokens") return tokens;
  if (metric === "cost") return costMicros / 1_000_000;
  if (runs === 0) return 0;
  return rounded(metric === "error_rate" ? failed / runs : durationMs / runs);
}
