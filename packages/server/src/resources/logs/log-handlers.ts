import type { LogOperationKey, LogQuery } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import type { Share } from "../../fairness/shares.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { forbidden, invalid, notFound } from "../../platform/api-error.ts";
import { parseFilterId, parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import { maxCounted, page, single } from "../envelopes.ts";
import { EventStream, type Handlers, type RequestContext } from "../handlers.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { addRecordBytes } from "../quotas/stored-bytes.ts";
import { followLogs, startFollowing } from "./follow-logs.ts";
import type { LogNotifications } from "./log-notifications.ts";
import * as queries from "./log-queries.ts";
import { createLogReader } from "./log-reader.ts";
import { fromCursor, type LogPosition, laterOf, timeRange, toCursor, visibleSince } from "./log-rules.ts";
import { needsSearch, searchLogs } from "./search-logs.ts";
import { toLogEntry } from "./to-log-entry.ts";

interface LogDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly quotas: Pick<Quotas, "requireSpace">;
  readonly logNotifications: LogNotifications;
  readonly logSearches: Pick<Share, "acquire" | "hold">;
  readonly nowMs: () => number;
}

const dayMs = 86_400_000;

const stringOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
const environmentAndVersion = ({ environment, version }: Readonly<Record<string, unknown>>) => ({
  environment: stringOrNull(environment),
  version: stringOrNull(version),
});

const bytesOf = (entries: readonly queries.NewLog[]): number =>
  entries.reduce((sum, { message, metadata }) => sum + Buffer.byteLength(message + JSON.stringify(metadata)), 0);

export const logHandlers = ({ db, agents, quotas, logNotifications, logSearches, nowMs: now }: LogDeps) => {
  const logReader = createLogReader(db);
  const findAgentKey = async (context: RequestContext, ref: string) => {
    const { organisation_id: organisationId, id: agentId } = await agents.get(context, ref);
    return { organisationId, agentId };
  };

  /** Where a token names the user, entries are read and written by their runs, which have a user. */
  const requireOwnRuns = async (context: RequestContext, agent: AgentKey, runIds: readonly string[]): Promise<void> => {
    const { onlyUserId, organisationId } = context.scope;
    if (onlyUserId === undefined || runIds.length === 0) return;
    const own = await db.inOrganisation(organisationId, (trx) =>
      queries.listRunsOfUser(trx, agent, onlyUserId, runIds),
    );
    const other = runIds.find((id) => !own.has(id));
    if (other !== undefined) throw notFound("invocation", toPublicId("request", other));
  };

  const createFilter = async (context: RequestContext, ref: string, query: LogQuery): Promise<queries.LogFilter> => {
    const nowMs = now();
    const agent = await findAgentKey(context, ref);
    const invocationId = query.request_id && parseFilterId("request", query.request_id);
    if (context.scope.onlyUserId !== undefined && !invocationId)
      throw forbidden(
        "The log has entries of all users. Name a run of the token's user in `request_id`; without one it needs the permission manage.",
      );
    await requireOwnRuns(context, agent, invocationId ? [invocationId] : []);
    const { from, until } = timeRange(query, nowMs);
    return {
      ...agent,
      from: laterOf(from, visibleSince(context.caller.organisation.tier, nowMs)),
      until,
      level: query.level,
      invocationId,
      environment: query.environment,
      version: query.version,
      contains: query.contains,
    };
  };

  const findLogs = (filter: queries.LogFilter, request: queries.LogPageRequest): Promise<queries.FoundLogs> => {
    const { organisationId } = filter;
    const find = needsSearch(filter) ? searchLogs : queries.listLogs;
    const read = () => db.inOrganisation(organisationId, (trx) => find(trx, filter, request));
    return needsSearch(filter) ? logSearches.hold(organisationId, read) : read();
  };

  return {
    "GET /v1/agents/{agent_id}/logs": async ({ params, query }, context) => {
      const filter = await createFilter(context, params.agent_id, query);
      if (context.events) {
        const deps = { logReader, logNotifications, logSearches, now };
        const start = await startFollowing(deps, filter, query.start_time === undefined ? undefined : filter.from);
        return new EventStream({}, (signal) => followLogs(deps, filter, start, signal));
      }
      const before = query.cursor === undefined ? undefined : fromCursor(query.cursor);
      const { rows, total, isTotalExact, end } = await findLogs(filter, { ...query, before });
      const { data, pagination } = page(rows.map(toLogEntry), query, Math.min(total, maxCounted));
      return {
        data,
        pagination: {
          ...pagination,
          has_more: end !== undefined,
          total_relation: isTotalExact ? ("eq" as const) : ("gte" as const),
          next_cursor: end ? toCursor(end) : null,
        },
      };
    },

    "POST /v1/agents/{agent_id}/logs": async ({ params, body }, context) => {
      const agent = await findAgentKey(context, params.agent_id);
      quotas.requireSpace(context.caller.organisation, ["recordBytes"]);
      const nowMs = now();
      const entries = body.entries.map(({ timestamp, level, message, request_id, metadata }, i): queries.NewLog => {
        const at = timestamp === undefined ? new Date(nowMs) : new Date(timestamp);
        if (at.getTime() > nowMs + 60_000 || at.getTime() < nowMs - dayMs)
          throw invalid(`entries.${i}.timestamp`, "Must be within the last 24 hours");
        // Run, environment and version may come from the entry's own metadata: the filters search by them.
        const { request_id: inMetadata, ...rest } = metadata;
        const runId = request_id ?? stringOrNull(inMetadata);
        const invocationId = (runId && parsePublicId("request", runId)) || null;
        return { at, level, message, metadata: rest, invocationId, ...environmentAndVersion(metadata) };
      });
      const runIds = entries.flatMap(({ invocationId }) => invocationId ?? []);
      await requireOwnRuns(context, agent, [...new Set(runIds)]);
      let positions: LogPosition[] = [];
      const answer = await context.change(async (trx) => {
        positions = await queries.insertLogs(trx, agent, entries);
        await addRecordBytes(trx, agent.organisationId, bytesOf(entries));
        return single({ added: entries.length });
      });
      logNotifications.publish(agent.agentId, { places: positions.map(({ at, id }) => [at.getTime(), id] as const) });
      return answer;
    },
  } satisfies Handlers<LogOperationKey>;
};
