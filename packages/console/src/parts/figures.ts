import { formatCount } from "./duration.ts";

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** `0 %`, `3.3 %`, `42 %`. */
export const formatPercent = (rate: number): string => `${(rate * 100).toFixed(rate > 0 && rate < 0.1 ? 1 : 0)} %`;

/** `0.25/min`, `12/min`. */
export const formatPerMinute = (value: number): string =>
  `${value >= 10 ? Math.round(value) : Number(value.toFixed(2))}/min`;

/** `1 run`, `1,204 runs`. */
export const formatRuns = (runs: number): string => `${formatCount(runs)} ${runs === 1 ? "run" : "runs"}`;

/** `850`, `1.2K`, `3M`. */
export const formatShort = (value: number): string => compact.format(value);

/** Small amounts show cents, and very small ones fractions of a cent. */
export const formatDollars = (value: number): string => {
  if (value === 0) return "$0";
  return value < 0.1 ? `$${Number(value.toPrecision(2))}` : `$${value.toFixed(2)}`;
};

type Values = readonly (number | null)[];
const numbers = (values: Values): number[] => values.filter((value) => value !== null);

export const largestOf = (values: Values): number =>
  numbers(values).reduce((largest, value) => Math.max(largest, value), 0);
export const totalOf = (values: Values): number => numbers(values).reduce((sum, value) => sum + value, 0);
