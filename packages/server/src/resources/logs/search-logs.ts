import { logLevels } from "@perch/contract";
import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import { maxCounted } from "../envelopes.ts";
import { type FoundLogs, type LogFilter, type LogPageRequest, type LogRow, logColumns } from "./log-queries.ts";
import { maxPageBytes, maxSearchedBytes, maxSearchedEntries } from "./log-rules.ts";

/** Whether the filter has something that no index has, so that entries have to be read to be left out. */
export const needsSearch = ({ environment, version, contains }: LogFilter): boolean =>
  environment !== undefined || version !== undefined || contains !== undefined;

/** A matching entry, or none, beside the outcome of the search, which is the same in all rows. */
type SearchedRow = { readonly [Column in keyof LogRow]: LogRow[Column] | null } & {
  readonly matches: number;
  /** The time at which the search stopped early; null if it reached the end. */
  readonly stopped_at: Date | null;
  readonly stopped_id: string | null;
};

const isEntry = (row: SearchedRow): row is SearchedRow & LogRow => row.id !== null;

/** Reads a bounded number of entries and bytes, and only the entries of the page whole. */
async function scanLogs(
  trx: OrganisationTransaction,
  filter: LogFilter,
  { limit, offset, before }: LogPageRequest,
): Promise<SearchedRow[]> {
  const { organisationId, agentId, from, until, level, invocationId, environment, version, contains } = filter;
  const { rows } = await sql<SearchedRow>`
    with scanned as materialized (
      select * from scan_logs(${organisationId}, ${agentId}, ${from}, ${until}, ${before?.at ?? null}, ${before?.id ?? null},
        ${level === undefined ? null : logLevels.indexOf(level)}::smallint, ${invocationId ?? null}, ${environment ?? null},
        ${version ?? null}, ${contains ?? null}, ${maxSearchedEntries}, ${maxSearchedBytes(contains ?? "")})),
    outcome as (
      select (count(*) filter (where is_match))::int as matches, max(at) filter (where not is_match) as stopped_at,
             max(id) filter (where not is_match) as stopped_id from scanned),
    page as (
      select at, id from scanned where is_match order by at desc, id desc limit ${limit} offset ${offset})
    select o.matches, o.stopped_at, o.stopped_id, ${sql.join(logColumns.map((column) => sql.ref(`entry.${column}`)))}
      from outcome o
      left join (
        select e.*, sum(octet_length(e.message) + octet_length(e.metadata::text))
                      over (order by e.at desc, e.id desc rows between unbounded preceding and 1 preceding) as bytes_before
          from page, lateral (
            select * from log_entries e
              where e.organisation_id = ${organisationId} and e.agent_id = ${agentId} and e.at = page.at and e.id = page.id limit 1) e
        ) entry on coalesce(entry.bytes_before, 0) < ${maxPageBytes}
      order by entry.at desc, entry.id desc`.execute(trx);
  return rows;
}

/** For a filter that needs a search. A page may be short, or empty, and still have a next one. */
export async function searchLogs(
  trx: OrganisationTransaction,
  filter: LogFilter,
  request: LogPageRequest,
): Promise<FoundLogs> {
  const { offset, before } = request;
  const scanned = await scanLogs(trx, filter, request);
  const rows = scanned.filter(isEntry);
  const { matches = 0, stopped_at: at = null, stopped_id: id = null } = scanned[0] ?? {};
  const stopped = at && id !== null ? { at, id } : undefined;
  // A cursor of a live tail does not count the earlier matches.
  const matchesBefore = before === undefined ? 0 : before.matches;
  const total = (matchesBefore ?? 0) + matches;
  const last = offset + rows.length < matches ? rows.at(-1) : undefined;
  const end = last
    ? {
        at: last.at,
        id: last.id,
        matches: matchesBefore === undefined ? undefined : matchesBefore + offset + rows.length,
      }
    : stopped && { ...stopped, matches: matchesBefore === undefined ? undefined : total };
  return { rows, total, isTotalExact: !stopped && matchesBefore !== undefined && total <= maxCounted, end };
}
