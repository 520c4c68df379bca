import { type LogLevel, type LogQuery, logLevels } from "@perch/contract";
import { type ExpressionBuilder, type Selectable, sql } from "kysely";
import { countUpTo } from "../../db/count-up-to.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB, LogEntries } from "../../db/generated-rows.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { uuidTime } from "../../platform/ids.ts";
import type { LogNotification } from "./log-notifications.ts";

const columns = ["at", "id", "level", "message", "metadata", "invocation_id", "environment", "version"] as const;
export type LogRow = Pick<Selectable<LogEntries>, (typeof columns)[number]>;

/** Where a page ended: entries are ordered by time and id. */
export interface LogPosition {
  readonly at: Date;
  readonly id: string;
}

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

/** A text search reads at most this many of the newest entries, so that its cost does not grow with the log. */
const maxSearched = 20_000;

const matching = (trx: OrganisationTransaction, filter: LogFilter, before?: LogPosition) =>
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

const containing = (trx: OrganisationTransaction, filter: LogFilter, before?: LogPosition) => {
  const query = matching(trx, filter, before);
  if (filter.contains === undefined) return query.select(columns);
  const pattern = `%${filter.contains.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return trx
    .selectFrom(query.select(columns).limit(maxSearched).as("log_entries"))
    .select(columns)
    .where("message", "ilike", pattern)
    .orderBy("at", "desc")
    .orderBy("id", "desc");
};

export const listLogs = (
  trx: OrganisationTransaction,
  filter: LogFilter,
  { limit, offset, before }: Pick<LogQuery, "limit" | "offset"> & { readonly before?: LogPosition | undefined },
): Promise<LogRow[]> => containing(trx, filter, before).limit(limit).offset(offset).execute();

export const countLogs = (trx: OrganisationTransaction, filter: LogFilter, max: number): Promise<number> =>
  countUpTo(trx, containing(trx, filter).clearOrderBy(), max);

/** Where a text search stopped at `maxSearched`; undefined when it read all entries. */
export const findEndOfSearch = async (
  trx: OrganisationTransaction,
  filter: LogFilter,
  before?: LogPosition,
): Promise<LogPosition | undefined> => {
  if (filter.contains === undefined) return undefined;
  const last = matching(trx, filter, before)
    .select(["at", "id"])
    .offset(maxSearched - 1)
    .limit(2);
  const [end, next] = await last.execute();
  return next && end;
};

/** Between the clocks of an API node and a worker. */
const maxClockSkewMs = 3_600_000;

/** The log entries of one run, oldest first. Entries in another agent's log that name the run are not included. */
export const listLogsOfRun = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  invocationId: string,
): Promise<LogRow[]> =>
  trx
    .selectFrom("log_entries")
    .select(columns)
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("invocation_id", "=", invocationId)
    // No entry is older than its run: this limits the partitions that are read.
    .where("at", ">=", new Date(uuidTime(invocationId).getTime() - maxClockSkewMs))
    .orderBy("at")
    .orderBy("id")
    .limit(500)
    .execute();

/** The entries that a notification announces. */
export const listNotifiedLogs = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  notification: LogNotification,
): Promise<LogRow[]> => {
  if ("run" in notification) return listLogsOfRun(trx, { organisationId, agentId }, notification.run);
  const times = notification.places.map(([atMs]) => new Date(atMs));
  return trx
    .selectFrom("log_entries")
    .select(columns)
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
