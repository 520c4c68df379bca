import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { BucketCount, Intervals, Sums } from "./metric-rules.ts";

export interface MetricFilter extends AgentKey {
  readonly environment?: string | undefined;
  readonly version?: string | undefined;
}

/** Minutes for fine intervals, hours for coarse ones: the cost grows with the points requested, not with the runs. */
const fromMatchingSums = (
  { organisationId, agentId, environment, version }: MetricFilter,
  { seconds, from, until }: Intervals,
) => sql`
  from run_rollups
  where organisation_id = ${organisationId} and agent_id = ${agentId} and granularity = ${seconds < 3600 ? "minute" : "hour"}
    and starts_at >= ${from} and starts_at < ${until}
    ${environment === undefined ? sql`` : sql`and environment = ${environment}`}
    ${version === undefined ? sql`` : sql`and version = ${version}`}`;

const intervalStart = ({ seconds }: Intervals) =>
  sql`floor(extract(epoch from starts_at) / ${seconds})::bigint * ${seconds}::bigint`;

interface SumRow {
  readonly since: string;
  readonly runs: string;
  readonly failed: string;
  readonly tokens: string;
  readonly duration_ms: string;
  readonly cost_micros: string;
}

const sums = sql`sum(runs) as runs, sum(failed) as failed, sum(tokens) as tokens, sum(duration_ms) as duration_ms, sum(cost_micros) as cost_micros`;

const toSums = ({ since, runs, failed, tokens, duration_ms, cost_micros }: SumRow): Sums => ({
  sinceMs: Number(since) * 1000,
  runs: Number(runs),
  failed: Number(failed),
  tokens: Number(tokens),
  durationMs: Number(duration_ms),
  costMicros: Number(cost_micros),
});

export async function listSums(
  trx: OrganisationTransaction,
  filter: MetricFilter,
  intervals: Intervals,
): Promise<Sums[]> {
  const { rows } = await sql<SumRow>`
    select ${intervalStart(intervals)} as since, ${sums} ${fromMatchingSums(filter, intervals)} group by 1`.execute(
    trx,
  );
  return rows.map(toSums);
}

export interface AgentSums extends Sums {
  readonly agentId: string;
}

/** The sums of many agents in one statement. */
export async function listSumsOfAgents(
  trx: OrganisationTransaction,
  filter: Omit<MetricFilter, "agentId" | "version"> & { readonly agentIds: readonly string[] },
  intervals: Intervals,
): Promise<AgentSums[]> {
  const { organisationId, agentIds, environment } = filter;
  const { seconds, from, until } = intervals;
  const { rows } = await sql<SumRow & { readonly agent_id: string }>`
    select agent_id, ${intervalStart(intervals)} as since, ${sums}
      from run_rollups
      where organisation_id = ${organisationId} and agent_id = any (${[...agentIds]}::uuid[])
        and granularity = ${seconds < 3600 ? "minute" : "hour"} and starts_at >= ${from} and starts_at < ${until}
        ${environment === undefined ? sql`` : sql`and environment = ${environment}`}
      group by 1, 2`.execute(trx);
  return rows.map(({ agent_id: agentId, ...row }) => ({ agentId, ...toSums(row) }));
}

/** Duration histograms, by the start of each interval. */
export async function listDurations(
  trx: OrganisationTransaction,
  filter: MetricFilter,
  intervals: Intervals,
): Promise<Map<number, BucketCount[]>> {
  const { rows } = await sql<{ since: string; bucket: string; count: string }>`
    select since, bucket, sum(count) as count
      from (select ${intervalStart(intervals)} as since, duration_buckets ${fromMatchingSums(filter, intervals)}) as rollups,
           unnest(duration_buckets) with ordinality as counted (count, bucket)
      where count > 0 group by 1, 2`.execute(trx);
  return Map.groupBy(
    rows.map(({ since, bucket, count }) => ({
      sinceMs: Number(since) * 1000,
      bucket: Number(bucket),
      count: Number(count),
    })),
    ({ sinceMs }) => sinceMs,
  );
}
