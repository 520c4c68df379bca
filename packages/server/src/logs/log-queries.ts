import { type LogLevel, type LogQuery, logLevels } from "@perch/contract";
import { type ExpressionBuilder, type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import type { DB, LogEntries } from "../db/generated-rows.ts";
import { uuidTime } from "../platform/ids.ts";
import type { News } from "./log-news.ts";

const columns = ["at", "id", "level", "message", "metadata", "invocation_id", "environment", "version"] as const;
export type LogRow = Pick<Selectable<LogEntries>, (typeof columns)[number]>;

/** Where a page ended: entries are read in the order of time and number. */
export interface LogPlace {
  readonly at: Date;
  readonly id: string;
}

export interface LogFilter {
  readonly organisationId: string;
  readonly agentId: string;
  readonly from: Date;
  readonly until: Date;
  readonly level?: LogLevel | undefined;
  readonly invocationId?: string | undefined;
  readonly environment?: string | undefined;
  readonly version?: string | undefined;
  readonly contains?: string | undefined;
}

type Entries = ExpressionBuilder<DB, "log_entries">;

/** A text is looked for in the newest of these; more would cost what is stored, not what is found. */
const mostSearched = 20_000;

const matching = (trx: OrganisationTransaction, filter: LogFilter, before?: LogPlace) =>
  trx
    .selectFrom("log_entries")
    .where("organisation_id", "=", filter.organisationId)
    .where("agent_id", "=", filter.agentId)
    .where("at", ">=", filter.from)
    .where("at", "<", filter.until)
    .$if(filter.level !== undefined, (query) => query.where("level", "=", logLevels.indexOf(filter.level as LogLevel)))
    .$if(filter.invocationId !== undefined, (query) => query.where("invocation_id", "=", filter.invocationId ?? ""))
    .$if(filter.environment !== undefined, (query) => query.where("environment", "=", filter.environment ?? ""))
    .$if(filter.version !== undefined, (query) => query.where("version", "=", filter.version ?? ""))
    .$if(before !== undefined, (query) =>
      query.where((eb: Entries) =>
        eb(eb.refTuple("at", "id"), "<", eb.tuple(before?.at ?? new Date(0), before?.id ?? "0")),
      ),
    )
    .orderBy("at", "desc")
    .orderBy("id", "desc");

const containing = (trx: OrganisationTransaction, filter: LogFilter, before?: LogPlace) => {
  const query = matching(trx, filter, before);
  if (filter.contains === undefined) return query.select(columns);
  const pattern = `%${filter.contains.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return trx
    .selectFrom(query.select(columns).limit(mostSearched).as("log_entries"))
    .select(columns)
    .where("message", "ilike", pattern)
    .orderBy("at", "desc")
    .orderBy("id", "desc");
};

export const listLogs = (
  trx: OrganisationTransaction,
  filter: LogFilter,
  { limit, offset, before }: Pick<LogQuery, "limit" | "offset"> & { readonly before?: LogPlace | undefined },
): Promise<LogRow[]> => containing(trx, filter, before).limit(limit).offset(offset).execute();

/** Counts no further than `most`. */
export async function countLogs(trx: OrganisationTransaction, filter: LogFilter, most: number): Promise<number> {
  const row = await trx
    .selectFrom(containing(trx, filter).clearOrderBy().limit(most).as("some"))
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Where a search for a text stopped for having looked at enough; undefined when it saw all there was. */
export const findEndOfSearch = async (
  trx: OrganisationTransaction,
  filter: LogFilter,
  before?: LogPlace,
): Promise<LogPlace | undefined> => {
  if (filter.contains === undefined) return undefined;
  const last = matching(trx, filter, before)
    .select(["at", "id"])
    .offset(mostSearched - 1)
    .limit(2);
  const [end, next] = await last.execute();
  return next && end;
};

/** The clocks of an API node and a worker may differ by so much. */
const clocksDifferMs = 3_600_000;

/** What is logged of one run, in the order it happened. What was said of it in another agent's log is not part of it. */
export const listLogsOfRun = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: Pick<LogFilter, "organisationId" | "agentId">,
  invocationId: string,
): Promise<LogRow[]> =>
  trx
    .selectFrom("log_entries")
    .select(columns)
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("invocation_id", "=", invocationId)
    // Nothing of a run is older than the run: only those days are looked at.
    .where("at", ">=", new Date(uuidTime(invocationId).getTime() - clocksDifferMs))
    .orderBy("at")
    .orderBy("id")
    .limit(500)
    .execute();

/** The entries that news tell of. */
export const listNews = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: Pick<LogFilter, "organisationId" | "agentId">,
  news: News,
): Promise<LogRow[]> => {
  if ("run" in news) return listLogsOfRun(trx, { organisationId, agentId }, news.run);
  const times = news.places.map(([atMs]) => new Date(atMs));
  return trx
    .selectFrom("log_entries")
    .select(columns)
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("at", "in", times)
    .where(
      "id",
      "in",
      news.places.map(([, id]) => id),
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
  { organisationId, agentId }: Pick<LogFilter, "organisationId" | "agentId">,
  entries: readonly NewLog[],
): Promise<LogPlace[]> =>
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
