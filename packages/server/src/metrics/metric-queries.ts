import { sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import type { Counted, Intervals, Sums } from "./metric-rules.ts";

export interface MetricFilter {
  readonly organisationId: string;
  readonly agentId: string;
  readonly environment?: string | undefined;
  readonly version?: string | undefined;
}

/** Minutes for fine intervals, hours for coarse ones: what is read grows with the values asked for, not with the runs there were. */
const matching = (
  { organisationId, agentId, environment, version }: MetricFilter,
  { seconds, from, until }: Intervals,
) => sql`
  from run_sums
  where organisation_id = ${organisationId} and agent_id = ${agentId} and span = ${seconds < 3600 ? "minute" : "hour"}
    and since >= ${from} and since < ${until}
    ${environment === undefined ? sql`` : sql`and environment = ${environment}`}
    ${version === undefined ? sql`` : sql`and version = ${version}`}`;

const interval = ({ seconds }: Intervals) =>
  sql`floor(extract(epoch from since) / ${seconds})::bigint * ${seconds}::bigint`;

interface SumRow {
  readonly since: string;
  readonly runs: string;
  readonly failed: string;
  readonly tokens: string;
  readonly duration_ms: string;
  readonly cost_micros: string;
}

export async function listSums(
  trx: OrganisationTransaction,
  filter: MetricFilter,
  intervals: Intervals,
): Promise<Sums[]> {
  const { rows } = await sql<SumRow>`
    select ${interval(intervals)} as since, sum(runs) as runs, sum(failed) as failed, sum(tokens) as tokens, sum(duration_ms) as duration_ms, sum(cost_micros) as cost_micros
      ${matching(filter, intervals)} group by 1`.execute(trx);
  return rows.map(({ since, runs, failed, tokens, duration_ms, cost_micros }) => ({
    sinceMs: Number(since) * 1000,
    runs: Number(runs),
    failed: Number(failed),
    tokens: Number(tokens),
    durationMs: Number(duration_ms),
    costMicros: Number(cost_micros),
  }));
}

/** How many runs took how long, for each interval. */
export async function listDurations(
  trx: OrganisationTransaction,
  filter: MetricFilter,
  intervals: Intervals,
): Promise<Map<number, Counted[]>> {
  const { rows } = await sql<{ since: string; place: string; count: string }>`
    select since, place, sum(count) as count
      from (select ${interval(intervals)} as since, durations ${matching(filter, intervals)}) as sums,
           unnest(durations) with ordinality as counted (count, place)
      where count > 0 group by 1, 2`.execute(trx);
  return Map.groupBy(
    rows.map(({ since, place, count }) => ({
      sinceMs: Number(since) * 1000,
      place: Number(place),
      count: Number(count),
    })),
    ({ sinceMs }) => sinceMs,
  );
}
