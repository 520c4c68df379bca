import { type LogLevel, type LogQuery, logLevels } from "@perch/contract";
import { type ExpressionBuilder, type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import { countUpTo } from "../../db/count-up-to.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB, LogEntries } from "../../db/generated-rows.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { uuidTime } from "../../platform/ids.ts";
import { maxCounted } from "../envelopes.ts";
import type { LogNotification } from "./log-notifications.ts";
import { type LogPosition, maxPageBytes } from "./log-rules.ts";

export const logColumns = [
  "at",
  "id",
  "level",
  "message",
  "metadata",
  "invocation_id",
  "environment",
  "version",
  "line",
] as const;
export type LogRow = Pick<Selectable<LogEntries>, (typeof logColumns)[number]>;

export interface LogFilter extends AgentKey {
  readonly from: Date;
  readonly until: Date;
  readonly level?: LogLevel | undefined;
  readonly invocationId?: string | undefined;
  readonly environment?: string | undefined;
  readonly version?: string | undefined;
  readonly contains?: string | undefined;
}

type Entries = ExpressionBuilder<DB, "log_entries">;

/** In the order of an index, and by the columns of indexes; see `search-logs.ts` for the rest of the filter. */
export const selectIndexed = (trx: OrganisationTransaction, filter: LogFilter, before?: LogPosition) =>
  trx
    .selectFrom("log_entries")
    .where("organisation_id", "=", filter.organisationId)
    .where("agent_id", "=", filter.agentId)
    .where("at", ">=", filter.from)
    .where("at", "<", filter.until)
    .$if(filter.level !== undefined, (query) => query.where("level", "=", logLevels.indexOf(filter.level as LogLevel)))
    .$if(filter.invocationId !== undefined, (query) => query.where("invocation_id", "=", filter.invocationId ?? ""))
    .$if(before !== undefined, (query) =>
      query.where((eb: Entries) =>
        eb(eb.refTuple("at", "id"), "<", eb.tuple(before?.at ?? new Date(0), before?.id ?? "0")),
      ),
    )
    .orderBy("at", "desc")
    .orderBy("id", "desc");

export interface LogPageRequest extends Pick<LogQuery, "limit" | "offset"> {
  readonly before?: LogPosition | undefined;
}

export interface FoundLogs {
  readonly rows: readonly LogRow[];
  /** On all pages; more than `maxCounted` means that counting stopped there. */
  readonly total: number;
  readonly isTotalExact: boolean;
  /** The position of the next page; undefined on the last. */
  readonly end: LogPosition | undefined;
}

type PageRow = LogRow & { readonly is_last: boolean };

/** The first entries of `page` that have `maxPageBytes` together, and at least one. The last of them says whether it is also the last of the page. */
const selectWithinBytes = (
  page: SelectQueryBuilder<DB, "log_entries", LogRow>,
  direction: "asc" | "desc",
): RawBuilder<PageRow> => {
  const order = sql.raw(`order by at ${direction}, id ${direction}`);
  return sql<PageRow>`
    select ${sql.join(logColumns.map((column) => sql.ref(column)))}, is_last
      from (select *, row_number() over (${order}) = count(*) over () as is_last,
                   sum(octet_length(message) + octet_length(metadata::text)) over (${order} rows between unbounded preceding and 1 preceding) as bytes_before
              from (${page}) page) sized
      where coalesce(bytes_before, 0) < ${maxPageBytes} ${order}`;
};

/** For a filter that an index has all of. */
export async function listLogs(
  trx: OrganisationTransaction,
  filter: LogFilter,
  { limit, offset, before }: LogPageRequest,
): Promise<FoundLogs> {
  // One more than the limit shows whether there is another page.
  const page = selectIndexed(trx, filter, before)
    .select(logColumns)
    .limit(limit + 1)
    .offset(offset);
  const { rows: found } = await selectWithinBytes(page, "desc").execute(trx);
  const rows = found.slice(0, limit);
  const total = await countUpTo(trx, selectIndexed(trx, filter).clearOrderBy().select("id"), maxCounted + 1);
  const end = rows.at(-1)?.is_last === false ? rows.at(-1) : undefined;
  return { rows, total, isTotalExact: total <= maxCounted, end };
}

/** Between the clocks of an API node and a worker. */
const maxClockSkewMs = 3_600_000;

/** No entry of a run is older than this. */
export const earliestOfRun = (invocationId: string): Date =>
  new Date(uuidTime(invocationId).getTime() - maxClockSkewMs);

interface RunLines {
  /** Only entries that the run itself wrote after so many lines, without those that others added to its log. */
  readonly ownAfter?: number;
}

/** The first log entries of one run, oldest first. Entries in another agent's log that name the run are not included. */
export const listLogsOfRun = async (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  invocationId: string,
  { ownAfter }: RunLines = {},
): Promise<LogRow[]> => {
  const first = trx
    .selectFrom("log_entries")
    .select(logColumns)
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("invocation_id", "=", invocationId)
    // This limits the partitions that are read.
    .where("at", ">=", earliestOfRun(invocationId))
    .$if(ownAfter !== undefined, (query) => query.where("line", ">", ownAfter ?? 0))
    .orderBy("at")
    .orderBy("id")
    .limit(500);
  return (await selectWithinBytes(first, "asc").execute(trx)).rows;
};

/** Those of these runs that are of this user. */
export async function listRunsOfUser(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  userId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await trx
    .selectFrom("invocations")
    .select("id")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("user_id", "=", userId)
    .where("id", "in", [...ids])
    // Only to leave out partitions.
    .where("accepted_at", "in", ids.map(uuidTime))
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** The log of an agent, or of one of its runs. */
export type FollowedLog = AgentKey & Pick<LogFilter, "invocationId">;

const maxReadAtOnce = 500;

/** Entries at this time or later and after `after`, oldest first, as many as are read at once. Empty at the end. */
export const listLogsSince = async (
  trx: OrganisationTransaction,
  { organisationId, agentId, invocationId }: FollowedLog,
  from: Date,
  after: LogPosition | undefined,
): Promise<LogRow[]> => {
  const page = trx
    .selectFrom("log_entries")
    .select(logColumns)
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("at", ">=", from)
    .$if(invocationId !== undefined, (query) => query.where("invocation_id", "=", invocationId ?? ""))
    .$if(after !== undefined, (query) =>
      query.where((eb: Entries) =>
        eb(eb.refTuple("at", "id"), ">", eb.tuple(after?.at ?? new Date(0), after?.id ?? "0")),
      ),
    )
    .orderBy("at")
    .orderBy("id")
    .limit(maxReadAtOnce);
  return (await selectWithinBytes(page, "asc").execute(trx)).rows;
};

/** The ids of the entries at this time or later. */
export type LogTime = Pick<LogRow, "id" | "at">;

export const listLogTimesSince = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  from: Date,
): Promise<LogTime[]> =>
  trx
    .selectFrom("log_entries")
    .select(["id", "at"])
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("at", ">=", from)
    .limit(maxCounted)
    .execute();

/** The entries that a notification announces. */
export const listNotifiedLogs = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  notification: LogNotification,
): Promise<LogRow[]> => {
  if ("run" in notification)
    return listLogsOfRun(trx, { organisationId, agentId }, notification.run, { ownAfter: notification.after ?? 0 });
  const times = notification.places.map(([atMs]) => new Date(atMs));
  return trx
    .selectFrom("log_entries")
    .select(logColumns)
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("at", "in", times)
    .where(
      "id",
      "in",
      notification.places.map(([, id]) => id),
    )
    .orderBy("at")
    .orderBy("id")
    .execute();
};

export interface NewLog {
  readonly at: Date;
  readonly level: LogLevel;
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly invocationId: string | null;
  readonly environment: string | null;
  readonly version: string | null;
}

export const insertLogs = async (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  entries: readonly NewLog[],
): Promise<LogPosition[]> =>
  trx
    .insertInto("log_entries")
    .values(
      entries.map(({ at, level, message, metadata, invocationId, environment, version }) => ({
        organisation_id: organisationId,
        agent_id: agentId,
        at,
        level: logLevels.indexOf(level),
        message,
        metadata: sql`${JSON.stringify(metadata)}::jsonb`,
        invocation_id: invocationId,
        environment,
        version,
      })),
    )
    .returning(["at", "id"])
    .execute();
