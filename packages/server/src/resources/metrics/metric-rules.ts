import { type Granularity, granularities, granularitySeconds, type MetricSeries } from "@perch/contract";
import { invalid } from "../../platform/api-error.ts";

/** How many values a series may have: those of one agent, or of many in one answer. */
export interface PointLimits {
  readonly byDefault: number;
  readonly max: number;
}
export const pointsOfOneAgent: PointLimits = { byDefault: 300, max: 1500 };
export const pointsOfManyAgents: PointLimits = { byDefault: 120, max: 120 };

export interface Intervals {
  readonly granularity: Granularity;
  readonly seconds: number;
  /** The beginning of the first interval. */
  readonly from: Date;
  readonly until: Date;
  readonly starts: readonly number[];
}

const countPoints = (fromMs: number, untilMs: number, seconds: number): number => {
  const ms = seconds * 1000;
  if (fromMs === untilMs) return 0;
  return Math.ceil((untilMs - Math.floor(fromMs / ms) * ms) / ms);
};

/** Every interval that the range touches, in UTC; none if the range is empty. The default granularity is the finest that `limits` allow. */
export function createIntervals(
  range: { readonly from: Date; readonly until: Date },
  requested: Granularity | undefined,
  limits: PointLimits = pointsOfOneAgent,
): Intervals {
  const [fromMs, untilMs] = [range.from.getTime(), range.until.getTime()];
  const finest =
    granularities.find((one) => countPoints(fromMs, untilMs, granularitySeconds[one]) <= limits.byDefault) ?? "1d";
  const granularity = requested ?? finest;
  const seconds = granularitySeconds[granularity];
  const points = countPoints(fromMs, untilMs, seconds);
  if (points > limits.max)
    throw invalid(
      requested === undefined ? "start_time" : "granularity",
      `The range has ${points} intervals of ${granularity}, more than ${limits.max}. Ask for a coarser one or a shorter range`,
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

/** The sums of an interval without runs. */
export const noSums: Omit<Sums, "sinceMs"> = { runs: 0, failed: 0, tokens: 0, costMicros: 0, durationMs: 0 };

/** A busy agent's rollups spread over this many rows, so that none is hot. The table checks the same range. */
export const rollupShards = 16;

/** Run times are counted in buckets, each 12 % wider than the one before. */
export const durationBuckets = 128;
const bucketGrowth = 1.12;

/** The bucket that a duration is counted in, from 1. */
export const durationBucket = (ms: number): number =>
  Math.min(durationBuckets, 1 + Math.floor(Math.log(Math.max(ms, 0) + 1) / Math.log(bucketGrowth)));

/** The shortest duration in a bucket, in whole milliseconds. */
const bucketMinMs = (bucket: number): number => Math.ceil(bucketGrowth ** (bucket - 1) - 1);

/** The harmonic mean of a bucket's bounds, which has the same relative error to both. Exact for short runs. */
export function bucketMiddleMs(bucket: number): number {
  const minMs = bucketMinMs(bucket);
  const maxMs = Math.max(minMs, bucketMinMs(bucket + 1) - 1);
  return maxMs === 0 ? 0 : (2 * minMs * maxMs) / (minMs + maxMs);
}

export interface BucketCount {
  readonly bucket: number;
  readonly count: number;
}

/** Accurate to within 6 %: the middle of the bucket that holds the rank. */
export function percentileOf(counts: readonly BucketCount[], q: number): number {
  const sorted = counts.toSorted((a, b) => a.bucket - b.bucket);
  const total = sorted.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return 0;
  let seen = 0;
  for (const { bucket, count } of sorted) {
    seen += count;
    if (seen >= Math.ceil(total * q)) return Math.round(bucketMiddleMs(bucket) * 10) / 10;
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
  { runs, failed, tokens, durationMs, costMicros }: Omit<Sums, "sinceMs">,
  seconds: number,
): number {
  if (metric === "throughput") return rounded(runs / (seconds / 60));
  if (metric === "tokens") return tokens;
  if (metric === "cost") return costMicros / 1_000_000;
  if (runs === 0) return 0;
  return rounded(metric === "error_rate" ? failed / runs : durationMs / runs);
}
