const hourMs = 3_600_000;

/** The ranges that the top bar offers, with their length. */
export const namedRanges = {
  "1h": { label: "Last hour", ms: hourMs },
  "24h": { label: "Last 24 hours", ms: 24 * hourMs },
  "7d": { label: "Last 7 days", ms: 7 * 24 * hourMs },
  "30d": { label: "Last 30 days", ms: 30 * 24 * hourMs },
} as const;
export type NamedRange = keyof typeof namedRanges;

export const defaultRange: NamedRange = "24h";

export const isNamedRange = (text: string | undefined): text is NamedRange =>
  text !== undefined && Object.hasOwn(namedRanges, text);

export interface TimeRange {
  readonly start: Date;
  /** Undefined means up to now and beyond. */
  readonly end: Date | undefined;
}

const dateOf = (text: string | undefined): Date | undefined => {
  const date = new Date(text ?? "");
  return Number.isNaN(date.getTime()) ? undefined : date;
};

/** The time range that `range` in an address names. An invalid one becomes the default. */
export function resolveRange(range: string | undefined, now: Date): TimeRange {
  const [from, to] = (range ?? "").split("..").map(dateOf);
  if (from && to && from < to) return { start: from, end: to };
  const { ms } = namedRanges[isNamedRange(range) ? range : defaultRange];
  return { start: new Date(now.getTime() - ms), end: undefined };
}

/** The beginning of the stored days, if the range begins earlier. */
export function keptSince(range: string | undefined, days: number, now: Date): Date | undefined {
  const since = new Date(now.getTime() - days * 24 * hourMs);
  return resolveRange(range, now).start < since ? since : undefined;
}

const short = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

export function rangeLabel(range: string | undefined): string {
  if (isNamedRange(range)) return namedRanges[range].label;
  const { start, end } = resolveRange(range, new Date());
  return end ? `${short.format(start)} to ${short.format(end)}` : namedRanges[defaultRange].label;
}
