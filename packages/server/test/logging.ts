import type { LogEntry } from "@perch/contract";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

export const getLogs = "GET /v1/agents/{agent_id}/logs";

interface Query {
  readonly [parameter: string]: string | number | undefined;
}

/** A page of the bot's log, newest first. */
export const logPage = async ({ call }: Organisation, query: Query = {}, as?: string) =>
  ok(await call(getLogs, { params: { agent_id: "bot" }, query: query as never }, as));

/** What is logged of a run, in the order it happened. */
export const logOf = async (organisation: Organisation, request_id: string): Promise<LogEntry[]> =>
  (await logPage(organisation, { request_id, limit: 1000 })).data.toReversed();

/** What tells entries apart: their level and what they are about. */
export const kindsOf = (entries: readonly LogEntry[]) =>
  entries.map(({ level, metadata }) => `${level} ${String(metadata.type)}`);
