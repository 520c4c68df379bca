import type { LogOperationKey, LogQuery } from "@perch/contract";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import type { Database } from "../db/database.ts";
import { EventStream, type Handlers, type RequestContext } from "../handlers.ts";
import { invalid } from "../platform/api-error.ts";
import { page, single } from "../platform/envelopes.ts";
import { parsePublicId } from "../platform/ids.ts";
import { createReadNews, followLogs } from "./follow-logs.ts";
import type { LogNews } from "./log-news.ts";
import * as queries from "./log-queries.ts";
import { fromCursor, later, seenSince, timeRange, toCursor } from "./log-rules.ts";
import { toLogEntry } from "./to-log-entry.ts";

interface LogDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly news: LogNews;
  readonly now: () => number;
}

const mostCounted = 10_000;
const dayMs = 86_400_000;

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
const placeOf = ({ environment, version }: Readonly<Record<string, unknown>>) => ({
  environment: textOf(environment),
  version: textOf(version),
});

export const logHandlers = ({ db, agents, news, now }: LogDeps) => {
  const readNews = createReadNews(db);
  const agentOf = async (context: RequestContext, ref: string) => {
    const { organisation_id: organisationId, id: agentId } = await agents.get(context, ref);
    return { organisationId, agentId };
  };

  const filterOf = async (context: RequestContext, ref: string, query: LogQuery): Promise<queries.LogFilter> => {
    const nowMs = now();
    const { from, until } = timeRange(query, nowMs);
    return {
      ...(await agentOf(context, ref)),
      from: later(from, seenSince(context.caller.organisation.tier, nowMs)),
      until,
      level: query.level,
      invocationId: query.request_id && parsePublicId("request", query.request_id),
      environment: query.environment,
      version: query.version,
      contains: query.contains,
    };
  };

  return {
    "GET /v1/agents/{agent_id}/logs": async ({ params, query }, context) => {
      const filter = await filterOf(context, params.agent_id, query);
      if (context.events) return new EventStream({}, (signal) => followLogs({ readNews, news }, filter, signal));
      const before = query.cursor === undefined ? undefined : fromCursor(query.cursor);
      return db.inOrganisation(filter.organisationId, async (trx) => {
        // One more than asked for: whether there is another page is then known.
        const found = await queries.listLogs(trx, filter, { ...query, limit: query.limit + 1, before });
        const rows = found.slice(0, query.limit);
        const end = found.length > rows.length ? rows.at(-1) : await queries.findEndOfSearch(trx, filter, before);
        const total = await queries.countLogs(trx, filter, mostCounted + 1);
        const isCapped = total > mostCounted || (await queries.findEndOfSearch(trx, filter)) !== undefined;
        const { data, pagination } = page(rows.map(toLogEntry), query, Math.min(total, mostCounted));
        return {
          data,
          pagination: {
            ...pagination,
            has_more: end !== undefined,
            total_relation: isCapped ? ("gte" as const) : ("eq" as const),
            next_cursor: end ? toCursor(end) : null,
          },
        };
      });
    },

    "POST /v1/agents/{agent_id}/logs": async ({ params, body }, context) => {
      const agent = await agentOf(context, params.agent_id);
      const nowMs = now();
      const entries = body.entries.map(({ timestamp, level, message, request_id, metadata }, i): queries.NewLog => {
        const at = timestamp === undefined ? new Date(nowMs) : new Date(timestamp);
        if (at.getTime() > nowMs + 60_000 || at.getTime() < nowMs - dayMs)
          throw invalid(`entries.${i}.timestamp`, "Must be within the last 24 hours");
        const invocationId = (request_id && parsePublicId("request", request_id)) ?? null;
        // What it says of itself is what it is found by.
        return { at, level, message, metadata, invocationId, ...placeOf(metadata) };
      });
      let places: queries.LogPlace[] = [];
      const answer = await context.change(async (trx) => {
        places = await queries.insertLogs(trx, agent, entries);
        return single({ added: entries.length });
      });
      news.publish(agent.agentId, { places: places.map(({ at, id }) => [at.getTime(), id] as const) });
      return answer;
    },
  } satisfies Handlers<LogOperationKey>;
};
