const seconds = { "1m": 60, "5m": 300, "1h": 3600, "1d": 86_400 } as const;
export type Granularity = keyof typeof seconds;

const granularities = Object.keys(seconds) as readonly Granularity[];

/** The API's limit for one agent. */
const maxIntervals = 1500;

/** The intervals that divide a range into at least two, and into no more than one request allows. */
export const fittingGranularities = (rangeMs: number): readonly Granularity[] =>
  granularities.filter((one) => {
    const ms = seconds[one] * 1000;
    // A range that begins within an interval touches one more.
    return rangeMs >= 2 * ms && Math.ceil(rangeMs / ms) + 1 <= maxIntervals;
  });

/** The finest interval that divides a range into at most this many: a rate or percentile of few runs means little. */
export const granularityFor = (rangeMs: number, atMost: number): Granularity =>
  granularities.find((one) => rangeMs / (seconds[one] * 1000) <= atMost) ?? "1d";

/** The default interval. More intervals would have few runs each. A week by the hour has 168. */
export const usualGranularity = (rangeMs: number): Granularity => granularityFor(rangeMs, 180);

/** The API's limit for many agents. */
const maxIntervalsOfMany = 120;

interface Part {
  readonly start: Date;
  readonly end: Date;
}

/** A range as one or two requests about many agents. The two meet at the start of an interval. */
export function partsForMany(start: Date, end: Date, granularity: Granularity): [Part, Part?] {
  const ms = seconds[granularity] * 1000;
  const middle = new Date((Math.floor(start.getTime() / ms) + maxIntervalsOfMany) * ms);
  if (middle >= end) return [{ start, end }];
  return [
    { start, end: middle },
    { start: middle, end },
  ];
}

const words: Readonly<Record<Granularity, string>> = {
  "1m": "by the minute",
  "5m": "every 5 minutes",
  "1h": "by the hour",
  "1d": "by the day",
};
export const granularityWords = (granularity: Granularity): string => words[granularity];
