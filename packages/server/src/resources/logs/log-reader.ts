import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { LogNotification } from "./log-notifications.ts";
import * as queries from "./log-queries.ts";
import type { LogPosition } from "./log-rules.ts";

/** The reads of followers of an agent's log. */
export interface LogReader {
  /** The entries that a notification announces. */
  readonly readNotified: (agent: AgentKey, notification: LogNotification) => Promise<queries.LogRow[]>;
  /** Entries since a time and after `after`, oldest first. Empty at the end. */
  readonly readSince: (
    log: queries.FollowedLog,
    from: Date,
    after: LogPosition | undefined,
  ) => Promise<queries.LogRow[]>;
  readonly readTimesSince: (agent: AgentKey, from: Date) => Promise<queries.LogTime[]>;
  /** The entries that the run itself wrote. */
  readonly readRun: (agent: AgentKey, runId: string) => Promise<queries.LogRow[]>;
}

/** All followers of an agent on this node read the same at the same time: they share one query. */
export function createLogReader(db: Database): LogReader {
  const underWay = new Map<string, Promise<unknown>>();
  const share = <T>(
    { organisationId, agentId }: AgentKey,
    what: unknown,
    read: (trx: OrganisationTransaction) => Promise<T>,
  ): Promise<T> => {
    const key = JSON.stringify([organisationId, agentId, what]);
    const reading =
      (underWay.get(key) as Promise<T> | undefined) ??
      db.inOrganisation(organisationId, read).finally(() => underWay.delete(key));
    underWay.set(key, reading);
    return reading;
  };
  return {
    readNotified: (agent, notification) =>
      share(agent, notification, (trx) => queries.listNotifiedLogs(trx, agent, notification)),
    readSince: (log, from, after) =>
      share(log, ["since", log.invocationId, from, after?.at, after?.id], (trx) =>
        queries.listLogsSince(trx, log, from, after),
      ),
    readTimesSince: (agent, from) =>
      share(agent, ["times", from], (trx) => queries.listLogTimesSince(trx, agent, from)),
    readRun: (agent, runId) =>
      share(agent, ["run", runId], (trx) => queries.listLogsOfRun(trx, agent, runId, { ownAfter: 0 })),
  };
}
