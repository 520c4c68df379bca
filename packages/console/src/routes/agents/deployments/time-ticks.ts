import type { Span } from "./timeline.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  minute,
  5 * minute,
  10 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  6 * hour,
  12 * hour,
];
const daySteps = [1, 2, 5, 10, 30, 90, 365].map((days) => days * day);

/** Few enough to leave room for their labels. */
const maxTicks = 7;

/** Round times in the reader's time zone within a span, at equal distances. */
export function timeTicks({ start, end }: Span): readonly number[] {
  const step = [...steps, ...daySteps].find((each) => (end - start) / each <= maxTicks) ?? end - start;
  const offset = new Date(start).getTimezoneOffset() * minute;
  const first = Math.ceil((start - offset) / step) * step + offset;
  return Array.from({ length: Math.floor((end - first) / step) + 1 }, (_, index) => first + index * step);
}
