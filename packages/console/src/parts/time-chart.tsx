import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { colourOf, drawMarks, loneValues, timeLabels } from "./time-chart-drawing.ts";

/** A moment that a vertical line stands for, such as a deployment. */
export interface ChartMark {
  readonly atSeconds: number;
  readonly label: string;
}

interface TimeChartProps {
  readonly title: string;
  /** For the whole range, shown while nothing is pointed at. */
  readonly summary: string;
  /** In seconds. */
  readonly times: readonly number[];
  /** Null is a gap: there was no traffic. */
  readonly values: readonly (number | null)[];
  readonly format: (value: number) => string;
  readonly marks: readonly ChartMark[];
  readonly tone?: "accent" | "danger";
}

const height = 140;

/** Until the end of the last interval: what happened within it, such as a deployment, has its place too. */
const wholeRange = (times: readonly number[]): [number, number] => {
  const [first = 0, second = first + 1] = times;
  return [first, (times.at(-1) ?? first) + second - first];
};

const optionsOf = ({ times, format, marks, tone = "accent" }: TimeChartProps, width: number): uPlot.Options => ({
  width,
  height,
  // All charts of a page show the same moment, so that one look reads all of them.
  cursor: { sync: { key: "page" }, y: false, drag: { x: false, y: false }, points: { size: 6 } },
  legend: { show: false },
  // The axis starts at zero; a line of zeros is at the bottom, not in the middle.
  scales: {
    x: { range: () => wholeRange(times) },
    y: { range: (_chart, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
  },
  axes: [
    {
      stroke: () => colourOf("--muted"),
      grid: { show: false },
      ticks: { show: false },
      font: "11px sans-serif",
      size: 24,
      values: timeLabels,
    },
    {
      stroke: () => colourOf("--muted"),
      grid: { stroke: () => colourOf("--line"), width: 1 },
      ticks: { show: false },
      font: "11px sans-serif",
      size: 56,
      space: 36,
      values: (_chart, splits) => splits.map(format),
    },
  ],
  series: [
    {},
    {
      stroke: () => colourOf(`--${tone}`),
      width: 1.25,
      points: { show: true, size: 3, width: 0, fill: () => colourOf(`--${tone}`), filter: loneValues },
    },
  ],
  hooks: { draw: [(chart) => drawMarks(chart, marks)] },
});

const moment = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

/** A thin line over time. Whoever cannot see it finds the same values in the table of the page. */
export function TimeChart(props: TimeChartProps) {
  const { title, summary, times, values, format, marks } = props;
  const parent = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<number | null>();
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const element = parent.current;
    if (!element) return;
    const options = optionsOf(latest.current, element.clientWidth);
    options.hooks = { ...options.hooks, setCursor: [({ cursor }) => setHovered(cursor.idx)] };
    const chart = new uPlot(options, [[...times], [...values]], element);
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const themed = new MutationObserver(() => chart.redraw());
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      chart.destroy();
    };
  }, [times, values, marks]);
  const time = typeof hovered === "number" ? times[hovered] : undefined;
  const value = typeof hovered === "number" ? values[hovered] : undefined;
  return (
    <figure className="min-w-0">
      <figcaption className="flex items-baseline gap-2 text-table">
        <span className="font-medium">{title}</span>
        <span className="text-muted">
          {time === undefined
            ? summary
            : `${typeof value === "number" ? format(value) : "no traffic"} at ${moment.format(time * 1000)}`}
        </span>
      </figcaption>
      <div ref={parent} role="img" aria-label={`${title}: ${summary}`} style={{ height }} />
    </figure>
  );
}
