import { type Tier, tierLimits } from "@perch/contract";
import { invalid } from "../../platform/api-error.ts";

/** The end of a page: entries are ordered by time and id. */
export interface LogPosition {
  readonly at: Date;
  readonly id: string;
  /** In a search: how many entries matched up to here. */
  readonly matches?: number | undefined;
}

const dayMs = 86_400_000;
/** The beginning of the year 0: the API writes years with four digits, so nothing before it can be shown. */
const firstMs = Date.parse("0000-01-01T00:00:00.000Z");
/** The end of the year 9999: later than any cursor of ours, and still valid in the database. */
const lastMs = 253_402_300_799_999;

/** RFC 3339, half open; the last 24 hours unless set. Of a time to come there is nothing yet: without an end the range is empty. */
export function timeRange(
  { start_time, end_time }: { readonly start_time?: string | undefined; readonly end_time?: string | undefined },
  nowMs: number,
): { readonly from: Date; readonly until: Date } {
  // One millisecond past now, to include entries written just now.
  const until = end_time === undefined ? new Date(nowMs + 1) : new Date(end_time);
  const from = start_time === undefined ? new Date(Math.max(until.getTime() - dayMs, firstMs)) : new Date(start_time);
  if (from < until) return { from, until };
  if (end_time === undefined) return { from, until: from };
  throw invalid("start_time", "Must be before end_time");
}

/** The oldest time that an organisation of this tier can read. Older entries stay until their day's partition is dropped. */
export const visibleSince = (tier: Tier, nowMs: number): Date => new Date(nowMs - tierLimits[tier].logDays * dayMs);

export const laterOf = (a: Date, b: Date): Date => (a > b ? a : b);

/** A search without a matching index reads at most this many entries, so that its cost does not grow with the log. */
export const maxSearchedEntries = 20_000;

/** A page ends after the entry with which it has this many bytes, whatever its limit: they are all parsed and written at once. */
export const maxPageBytes = 4 * 1024 * 1024;

const maxComparedBytes = 4 * 1024 * 1024;
/** A text of up to this size is compared in about the time that it takes to read the messages. */
const cheapTextBytes = 32;

/** How many bytes of messages a search reads: fewer for a long text, which at worst is compared at each of them. */
export const maxSearchedBytes = (contains: string): number =>
  Math.floor(maxComparedBytes / Math.max(1, Math.ceil(Buffer.byteLength(contains) / cheapTextBytes)));

export const toCursor = ({ at, id, matches }: LogPosition): string =>
  Buffer.from(JSON.stringify([at.getTime(), id, ...(matches === undefined ? [] : [matches])])).toString("base64url");

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

export function fromCursor(cursor: string): LogPosition {
  try {
    const [atMs, id, matches] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    if (isCount(atMs) && atMs <= lastMs && /^\d{1,18}$/.test(String(id)) && (matches === undefined || isCount(matches)))
      return { at: new Date(atMs), id: String(id), ...(matches !== undefined && { matches }) };
  } catch {}
  throw invalid("cursor", "Expected `pagination.next_cursor` of another page");
}
