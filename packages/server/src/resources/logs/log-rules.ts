import { type Tier, tierLimits } from "@perch/contract";
import { invalid } from "../../platform/api-error.ts";
import type { LogPosition } from "./log-queries.ts";

const dayMs = 86_400_000;
/** The beginning of the year 0: the API writes years with four digits, so nothing before it can be shown. */
const firstMs = Date.parse("0000-01-01T00:00:00.000Z");
/** The end of the year 9999: later than any cursor of ours, and still valid in the database. */
const lastMs = 253_402_300_799_999;

/** RFC 3339, half open; the last 24 hours unless set. */
export function timeRange(
  { start_time, end_time }: { readonly start_time?: string | undefined; readonly end_time?: string | undefined },
  nowMs: number,
): { readonly from: Date; readonly until: Date } {
  // One millisecond past now, to include entries written just now.
  const until = end_time === undefined ? new Date(nowMs + 1) : new Date(end_time);
  const from = start_time === undefined ? new Date(Math.max(until.getTime() - dayMs, firstMs)) : new Date(start_time);
  if (from >= until) throw invalid("start_time", "Must be before end_time");
  return { from, until };
}

/** The oldest time that an organisation of this tier can read. Older entries stay until their day's partition is dropped. */
export const visibleSince = (tier: Tier, nowMs: number): Date => new Date(nowMs - tierLimits[tier].logDays * dayMs);

export const laterOf = (a: Date, b: Date): Date => (a > b ? a : b);

export const toCursor = ({ at, id }: LogPosition): string =>
  Buffer.from(JSON.stringify([at.getTime(), id])).toString("base64url");

export function fromCursor(cursor: string): LogPosition {
  try {
    const [atMs, id] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as [unknown, unknown];
    if (Number.isSafeInteger(atMs) && Number(atMs) >= 0 && Number(atMs) <= lastMs && /^\d{1,18}$/.test(String(id)))
      return { at: new Date(Number(atMs)), id: String(id) };
  } catch {}
  throw invalid("cursor", "Expected `pagination.next_cursor` of another page");
}
