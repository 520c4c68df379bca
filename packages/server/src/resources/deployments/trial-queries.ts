import type { DeploymentStats } from "@perch/contract";
import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DeploymentRow } from "./deployment-queries.ts";

interface StatsRow {
  readonly is_canary: boolean;
  readonly runs: string;
  readonly failed: string;
  readonly p95_ms: number | null;
  readonly mean_tokens: number | null;
}

const noRuns: DeploymentStats = { runs: 0, error_rate: 0, p95_ms: null, mean_tokens: null };
const rounded = (value: number | null): number | null => (value === null ? null : Math.round(value * 10) / 10);

const toStats = (row: StatsRow | undefined): DeploymentStats =>
  row
    ? {
        runs: Number(row.runs),
        error_rate: Math.round((Number(row.failed) / Number(row.runs)) * 10_000) / 10_000,
        p95_ms: rounded(row.p95_ms),
        mean_tokens: rounded(row.mean_tokens),
      }
    : noRuns;

/** Only the last 10,000 runs of each: enough to compare, and it bounds the cost of a check. */
export async function findTrialStats(
  trx: OrganisationTransaction,
  { organisation_id, id }: Pick<DeploymentRow, "organisation_id" | "id">,
): Promise<{ readonly canary: DeploymentStats; readonly live: DeploymentStats }> {
  const arm = (isCanary: boolean) => sql`
    (select ${isCanary}::boolean as is_canary, status, duration_ms, tokens_used from invocations
      where organisation_id = ${organisation_id} and trial = ${id} and status in ('completed', 'failed')
        and ${isCanary ? sql`deployment_id = ${id}` : sql`deployment_id <> ${id}`}
      order by accepted_at desc limit 10000)`;
  const { rows } = await sql<StatsRow>`
    select is_canary, count(*) as runs, count(*) filter (where status = 'failed') as failed,
           percentile_cont(0.95) within group (order by duration_ms) as p95_ms, avg(tokens_used)::float8 as mean_tokens
      from (${arm(true)} union all ${arm(false)}) as runs group by is_canary`.execute(trx);
  return {
    canary: toStats(rows.find(({ is_canary }) => is_canary)),
    live: toStats(rows.find(({ is_canary }) => !is_canary)),
  };
}
