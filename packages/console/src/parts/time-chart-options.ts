import type uPlot from "uplot";
import { colourOf, drawMarks, loneValues, timeLabels } from "./time-chart-drawing.ts";

/** A moment that a vertical line marks, such as a deployment. */
export interface ChartMark {
  readonly atSeconds: number;
  readonly label: string;
}

/** One line of a chart. */
export interface ChartSeries {
  readonly label: string;
  /** Null is a gap without traffic. */
  readonly values: readonly (number | null)[];
  readonly tone: "accent" | "danger" | "warning" | "canary" | "text" | "muted";
}

/** The current data of a chart. The chart reads it with each drawing, so that new data does not need a new chart. */
export interface Drawn {
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly marks: readonly ChartMark[];
  readonly format: (value: number) => string;
  /** For several lines. */
  readonly isTall?: boolean;
}

export const heightOf = ({ isTall = false }: Drawn): number => (isTall ? 220 : 140);

const dashes: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [9, 3, 2, 3]];

/** The dash pattern of the line at this index, because some users do not distinguish lines by colour. */
export const dashOf = (index: number): readonly number[] => dashes[index % dashes.length] ?? [];

/** The axis reaches to the end of the last interval, so that an event within it, such as a deployment, has a place too. */
const wholeRange = (times: readonly number[]): [number, number] => {
  const [first = 0, second = first + 1] = times;
  return [first, (times.at(-1) ?? first) + second - first];
};

const lineOf = ({ tone }: ChartSeries, index: number): uPlot.Series => ({
  stroke: () => colourOf(`--${tone}`),
  width: 1.25,
  dash: [...dashOf(index)],
  points: { show: true, size: 3, width: 0, fill: () => colourOf(`--${tone}`), filter: loneValues },
});

const axis: uPlot.Axis = {
  stroke: () => colourOf("--muted"),
  ticks: { show: false },
  font: "11px sans-serif",
};

export const chartOptions = (
  width: number,
  now: () => Drawn,
  onHover: (index: number | null) => void,
): uPlot.Options => ({
  width,
  height: heightOf(now()),
  // The cursor is shared by all charts of a page, so that they show the same moment.
  cursor: { sync: { key: "page" }, y: false, drag: { x: false, y: false }, points: { size: 6 } },
  legend: { show: false },
  // The axis starts at zero; a line of zeros is at the bottom, not in the middle.
  scales: {
    x: { range: () => wholeRange(now().times) },
    y: { range: (_chart, _min, max) => [0, max > 0 ? max * 1.25 : 1] },
  },
  axes: [
    { ...axis, grid: { show: false }, size: 24, values: timeLabels },
    {
      ...axis,
      grid: { stroke: () => colourOf("--line"), width: 1 },
      size: 56,
      space: 36,
      values: (_chart, splits) => splits.map(now().format),
    },
  ],
  series: [{}, ...now().series.map(lineOf)],
  hooks: {
    draw: [(chart) => drawMarks(chart, now().marks)],
    setCursor: [({ cursor }) => onHover(cursor.idx ?? null)],
  },
});
