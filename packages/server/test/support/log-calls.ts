import type { LogEntry } from "@perch/contract";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

export const getLogsOperation = "GET /v1/agents/{agent_id}/logs";

interface Query {
  readonly [parameter: string]: string | number | undefined;
}

/** A page of the log of the agent `bot`, newest first. */
export const getLogPage = async ({ call }: Organisation, query: Query = {}, as?: string) =>
  ok(await call(getLogsOperation, { params: { agent_id: "bot" }, query: query as never }, as));

/** The log entries of a run, oldest first. */
export const listRunLogEntries = async (organisation: Organisation, request_id: string): Promise<LogEntry[]> =>
  (await getLogPage(organisation, { request_id, limit: 1000 })).data.toReversed();

/** Each entry as `<level> <type>`. */
export const levelsAndTypes = (entries: readonly LogEntry[]) =>
  entries.map(({ level, metadata }) => `${level} ${String(metadata.type)}`);
