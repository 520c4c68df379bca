import { invalid } from "../../platform/api-error.ts";
import { firstUuidAt, uuidTime } from "../../platform/ids.ts";

const dayMs = 86_400_000;
const windowDays = [0, 7];

/** Of runs created from `from` on and before `until`; null: without a bound. */
export interface TimeWindow {
  readonly from: Date | null;
  readonly until: Date | null;
}

interface ListedTimes {
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
  /** The id of the run after which the list goes on. */
  readonly before?: string | undefined;
}

const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/**
 * The times in which to look for runs, one after the other, newest first. Each day is a partition, and to open one costs more than
 * to read a page of it: the newest day comes first, then a week, then all that is left.
 */
export function timeWindows({ start_time, end_time, before }: ListedTimes, nowMs: number): TimeWindow[] {
  const fromMs = start_time === undefined ? undefined : Date.parse(start_time);
  const ends = [
    ...(end_time === undefined ? [] : [Date.parse(end_time)]),
    ...(before === undefined ? [] : [uuidTime(before).getTime() + 1]),
  ];
  const untilMs = ends.length === 0 ? undefined : Math.min(...ends);
  // Without an end, also what a node with a fast clock accepted a moment from now.
  const newestMs = Math.min(untilMs ?? nowMs + 1, nowMs + 1) - 1;
  const bounds = windowDays.map((days) => startOfDay(newestMs) - days * dayMs);
  const uppers = [untilMs, ...bounds];
  const lowers = [...bounds, undefined];
  return uppers.flatMap((upper, i): TimeWindow[] => {
    const lower = lowers[i];
    const from = fromMs === undefined || (lower !== undefined && lower > fromMs) ? lower : fromMs;
    if (from !== undefined && upper !== undefined && from >= upper) return [];
    return [{ from: from === undefined ? null : new Date(from), until: upper === undefined ? null : new Date(upper) }];
  });
}

export const toRunCursor = (id: string): string => Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");

/** The id of a run. Its time must be one that the database can hold. */
export function fromRunCursor(cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const hex = bytes.toString("hex");
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  if (bytes.length !== 16 || bytes.toString("base64url") !== cursor || id > firstUuidAt(lastTime))
    throw invalid("cursor", "Expected `pagination.next_cursor` of another page");
  return id;
}

const lastTime = new Date("9999-12-31T00:00:00Z");
