import type { DetailedHistory } from "../../api/agent-history-queries.ts";
import { formatCount, formatDuration } from "../../parts/duration.ts";
import {
  formatDollars,
  formatPercent,
  formatPerMinute,
  formatRuns,
  formatShort,
  largestOf,
  totalOf,
} from "../../parts/figures.ts";
import type { ChartSeries, Drawn } from "../../parts/time-chart-options.ts";
import type { ValuesColumn } from "../../parts/values-table.tsx";
import { visibleText } from "../../parts/visible-text.ts";

const nameOf = ({ version }: DetailedHistory): string =>
  version === undefined ? "all versions" : visibleText(version);

export interface ChartOfPage extends Pick<Drawn, "series" | "format" | "isTall"> {
  readonly title: string;
  readonly summary: string;
}

type ValuesName = "throughput" | "errorRate" | "averageMs" | "p50Ms" | "p95Ms" | "p99Ms" | "tokens" | "cost";

/** With one history each statistic has a colour; with two versions each version has one. */
const statistics: readonly { label: string; values: ValuesName; tone: ChartSeries["tone"]; isCompared: boolean }[] = [
  { label: "p50", values: "p50Ms", tone: "accent", isCompared: true },
  { label: "average", values: "averageMs", tone: "muted", isCompared: false },
  { label: "p95", values: "p95Ms", tone: "warning", isCompared: true },
  { label: "p99", values: "p99Ms", tone: "danger", isCompared: false },
];

const tones = ["accent", "warning"] as const;
const toneOf = (index: number) => tones[index] ?? "muted";

function runTimes(histories: readonly DetailedHistory[]): ChartSeries[] {
  const isCompared = histories.length > 1;
  return histories.flatMap((history, index) =>
    statistics
      .filter((one) => !isCompared || one.isCompared)
      .map(({ label, values, tone }) => ({
        label: isCompared ? `${nameOf(history)} ${label}` : label,
        values: history[values],
        tone: isCompared ? toneOf(index) : tone,
      })),
  );
}

/** The charts of one history, or of two to compare. */
export function chartsOf(histories: readonly DetailedHistory[]): ChartOfPage[] {
  const isCompared = histories.length > 1;
  const lines = (title: string, values: ValuesName, tone: ChartSeries["tone"] = "accent"): ChartSeries[] =>
    histories.map((history, index) => ({
      label: isCompared ? nameOf(history) : title,
      values: history[values],
      tone: isCompared ? toneOf(index) : tone,
    }));
  const each = (words: (history: DetailedHistory) => string): string =>
    histories.map((history) => (isCompared ? `${nameOf(history)}: ${words(history)}` : words(history))).join(", ");
  const ifRun = (words: (history: DetailedHistory) => string) =>
    each((history) => (history.runs > 0 ? words(history) : "no runs"));
  return [
    {
      ...{ title: "Run time", series: runTimes(histories), format: formatDuration, isTall: true },
      summary: ifRun(({ p95Ms }) => `p95 up to ${formatDuration(largestOf(p95Ms))}`),
    },
    {
      ...{ title: "Throughput", series: lines("Throughput", "throughput"), format: formatPerMinute },
      summary: each(({ runs }) => formatRuns(runs)),
    },
    {
      ...{ title: "Error rate", series: lines("Error rate", "errorRate", "danger"), format: formatPercent },
      summary: ifRun(({ failedRate }) => formatPercent(failedRate)),
    },
    {
      ...{ title: "Tokens", series: lines("Tokens", "tokens"), format: formatShort },
      summary: each(({ tokens }) => formatCount(totalOf(tokens))),
    },
    {
      ...{ title: "Cost", series: lines("Cost", "cost"), format: formatDollars },
      summary: each(({ cost }) => formatDollars(totalOf(cost))),
    },
  ];
}

/** The same lines as columns of a table. */
export const columnsOf = (charts: readonly ChartOfPage[]): ValuesColumn[] =>
  charts.flatMap(({ title, series, format }) =>
    series.map(({ label, values }) => ({ title: label === title ? title : `${title}, ${label}`, values, format })),
  );
