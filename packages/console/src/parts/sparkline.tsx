interface SparklineProps {
  readonly values: readonly number[];
  /** What it shows, in words, for whoever does not see it: "12 runs in 24 hours". */
  readonly label: string;
  readonly tone?: "accent" | "danger";
}

const width = 96;
const height = 20;

/** A line of values from zero. A gap is where there was nothing. */
export function Sparkline({ values, label, tone = "accent" }: SparklineProps) {
  const max = Math.max(...values, 0);
  const step = width / Math.max(1, values.length - 1);
  const y = (value: number) => (max === 0 ? height - 1 : height - 1 - (value / max) * (height - 2));
  const path = values
    .map((value, index) => `${index === 0 ? "M" : "L"}${(index * step).toFixed(1)} ${y(value).toFixed(1)}`)
    .join("");
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      className="block"
    >
      <path
        d={path}
        fill="none"
        strokeWidth="1.25"
        className={tone === "danger" ? "stroke-danger" : "stroke-accent"}
        stroke="currentColor"
      />
    </svg>
  );
}
