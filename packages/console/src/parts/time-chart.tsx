import { useRef } from "react";
import { type ChartSeries, type Drawn, dashOf, heightOf } from "./time-chart-options.ts";
import { useTimeChart } from "./use-time-chart.ts";

interface TimeChartProps extends Drawn {
  readonly title: string;
  /** The value for the whole range, shown while the pointer is outside the chart. */
  readonly summary: string;
  /** Nothing is known before this time, so the chart does not show it as a time without traffic. */
  readonly keptSince: Date | undefined;
}

const moment = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

interface LegendProps {
  readonly series: readonly ChartSeries[];
  readonly readValue: (series: ChartSeries) => string | undefined;
}

/** The legend: colour, dash pattern, and the value at the pointer. */
const Legend = ({ series, readValue }: LegendProps) => (
  <ul className="flex flex-wrap gap-x-4 text-muted text-small">
    {series.map((one, index) => (
      <li key={one.label} className="inline-flex min-w-0 items-center gap-1.5 [overflow-wrap:anywhere]">
        <svg aria-hidden="true" className="shrink-0" width="20" height="6" style={{ color: `var(--${one.tone})` }}>
          <path d="M0 3h20" stroke="currentColor" strokeWidth="1.5" strokeDasharray={dashOf(index).join(" ")} />
        </svg>
        {one.label}
        <span className="text-text">{readValue(one)}</span>
      </li>
    ))}
  </ul>
);

const Chart = (props: TimeChartProps) => {
  const { title, summary, times, series, format, keptSince } = props;
  const parent = useRef<HTMLDivElement>(null);
  const hovered = useTimeChart(parent, props);
  const time = hovered === null ? undefined : times[hovered];
  const hasTraffic = series.some(({ values }) => hovered !== null && typeof values[hovered] === "number");
  const endOfHovered = hovered === null ? undefined : times[hovered + 1];
  const isKept = keptSince === undefined || endOfHovered === undefined || endOfHovered * 1000 > keptSince.getTime();
  const readValue = ({ values }: ChartSeries): string | undefined => {
    const value = hovered === null ? undefined : values[hovered];
    return typeof value === "number" ? format(value) : undefined;
  };
  const [only, ...others] = series;
  const isOne = only !== undefined && others.length === 0;
  const atTime = (at: number): string => {
    const when = moment.format(at * 1000);
    if (!isKept) return `no data is stored for ${when}`;
    if (!hasTraffic) return `no traffic at ${when}`;
    return isOne ? `${readValue(only)} at ${when}` : `at ${when}`;
  };
  return (
    <figure className="min-w-0">
      <figcaption className="text-table">
        <div className="flex items-baseline gap-2">
          <span className="font-medium">{title}</span>
          <span className="text-muted">{time === undefined ? summary : atTime(time)}</span>
        </div>
        {!isOne && <Legend series={series} readValue={readValue} />}
      </figcaption>
      <div ref={parent} role="img" aria-label={`${title}: ${summary}`} style={{ height: heightOf(props) }} />
    </figure>
  );
};

/** Lines over time. The table of the page has the same values for users who cannot see the chart. */
export const TimeChart = (props: TimeChartProps) => (
  // A different set of lines needs a new chart; different values do not.
  <Chart key={props.series.map(({ label, tone }) => `${label} ${tone}`).join()} {...props} />
);
