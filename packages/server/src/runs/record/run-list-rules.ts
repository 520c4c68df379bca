import { invalid } from "../../platform/api-error.ts";
import { firstUuidAt, uuidTime } from "../../platform/ids.ts";

const dayMs = 86_400_000;
const windowDays = [0, 7];
const maxClockSkewMs = 3_600_000;

/** Covers runs created from `from` on and before `until`. */
export interface TimeWindow {
  /** Null: however old they are. */
  readonly from: Date | null;
  readonly until: Date;
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
 * to read a page of it: the newest day comes first, then a week, then all that is left. A node whose clock is fast may have accepted
 * a run some minutes from now.
 */
export function timeWindows({ start_time, end_time, before }: ListedTimes, nowMs: number): TimeWindow[] {
  const startMs = start_time === undefined ? undefined : Date.parse(start_time);
  const endMs = end_time === undefined ? Number.POSITIVE_INFINITY : Date.parse(end_time);
  const cursorMs = before === undefined ? Number.POSITIVE_INFINITY : uuidTime(before).getTime() + 1;
  const newestMs = Math.min(endMs, cursorMs, nowMs + maxClockSkewMs);
  const newestDay = startOfDay(Math.min(newestMs - 1, nowMs));
  const bounds = windowDays.map((days) => newestDay - days * dayMs);
  return [newestMs, ...bounds].flatMap((untilMs, i): TimeWindow[] => {
    const boundMs = bounds[i];
    const fromMs = Math.max(boundMs ?? Number.NEGATIVE_INFINITY, startMs ?? Number.NEGATIVE_INFINITY);
    if (fromMs >= untilMs) return [];
    return [{ from: Number.isFinite(fromMs) ? new Date(fromMs) : null, until: new Date(untilMs) }];
  });
}

/**
 * A run's id contains the time at which it was accepted. Empty if the database cannot store that time: there is no such
 * run.
 */
export function windowsOfRun(id: string): TimeWindow[] {
  const from = uuidTime(id);
  return from > lastTime ? [] : [{ from, until: new Date(from.getTime() + 1) }];
}

export const toRunCursor = (id: string): string => Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");

/** The id of a run. Its time must be one that the database can store. */
export function fromRunCursor(cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const hex = bytes.toString("hex");
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  if (bytes.length !== 16 || bytes.toString("base64url") !== cursor || id > firstUuidAt(lastTime))
    throw invalid("cursor", "Expected `pagination.next_cursor` of another page");
  return id;
}

const lastTime = new Date("9999-12-31T00:00:00Z");
