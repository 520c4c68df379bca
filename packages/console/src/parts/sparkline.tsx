interface SparklineProps {
  /** Null is a gap without data, which is not zero. */
  readonly values: readonly (number | null)[];
  /** A description for screen readers: "12 runs in 24 hours". */
  readonly label: string;
  readonly tone?: "accent" | "danger";
}

const width = 96;
const height = 20;

/** A line of values from zero. A null is a gap; a value between two gaps is a dot. */
export function Sparkline({ values, label, tone = "accent" }: SparklineProps) {
  const max = Math.max(...values.map((value) => value ?? 0), 0);
  const step = width / Math.max(1, values.length - 1);
  const y = (value: number) => (max === 0 ? height - 1 : height - 1 - (value / max) * (height - 2));
  const draw = (value: number | null, index: number): string => {
    if (value === null) return "";
    const begins = (values[index - 1] ?? null) === null;
    const isAlone = begins && (values[index + 1] ?? null) === null;
    return `${begins ? "M" : "L"}${(index * step).toFixed(1)} ${y(value).toFixed(1)}${isAlone ? "h1" : ""}`;
  };
  const path = values.map(draw).join("");
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
