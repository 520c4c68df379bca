import type { QuotaName } from "@perch/contract";
import { type RawBuilder, sql } from "kysely";

/** Whose things are counted. The agent is given where the quota is one of agents. */
export interface Counted {
  readonly organisationId: string;
  readonly agentId?: string | undefined;
}

const countUpTo = (rows: readonly RawBuilder<unknown>[], max: number): RawBuilder<number> =>
  sql<number>`(select least(count(*), ${max}) from (${sql.join(
    rows.map((each) => sql`(${each} limit ${max})`),
    sql` union all `,
  )}) counted)::int`;

const ofOrganisation = ({ organisationId }: Counted) => sql`organisation_id = ${organisationId}`;
const ofAgent = ({ organisationId, agentId }: Counted) =>
  sql`organisation_id = ${organisationId} and agent_id = ${agentId}`;

/** Rows of records are dropped with their partitions after this time. */
const recordDays = 30;

/**
 * What counts against each quota, as an expression that counts up to `max`: no further, so that its cost does not grow with what is
 * stored. Where only some rows of a table count, each part is a range of one index.
 */
export const quotaCounts: Readonly<Record<QuotaName, (of: Counted, max: number) => RawBuilder<number>>> = {
  // Triggers maintain this count.
  agents: (of) => sql<number>`coalesce((select agents from agent_counts where ${ofOrganisation(of)}), 0)::int`,
  // Those that work.
  keys: (of, max) => {
    const unrevoked = sql`select 1 from api_keys where ${ofOrganisation(of)} and revoked_at is null`;
    return countUpTo([sql`${unrevoked} and expires_at is null`, sql`${unrevoked} and expires_at > now()`], max);
  },
  webhooks: (of, max) => countUpTo([sql`select 1 from webhooks where ${ofOrganisation(of)}`], max),
  providers: (of, max) => countUpTo([sql`select 1 from model_providers where ${ofOrganisation(of)}`], max),
  // Those of agents too.
  secrets: (of, max) => countUpTo([sql`select 1 from secrets where ${ofOrganisation(of)}`], max),
  versionsPerAgent: (of, max) => countUpTo([sql`select 1 from agent_versions where ${ofAgent(of)}`], max),
  // Others make room for new ones.
  deploymentsPerAgent: (of, max) => {
    const deployments = sql`select 1 from deployments where ${ofAgent(of)}`;
    return countUpTo([sql`${deployments} and status = 'active'`, sql`${deployments} and status = 'pending'`], max);
  },
  // Triggers maintain this count, in at most 16 rows.
  waitingRuns: (of) =>
    sql<number>`coalesce((select sum(runs) from waiting_run_counts where ${ofOrganisation(of)}), 0)::int`,
  connections: (of) =>
    sql<number>`coalesce((select sum(connections) from connection_counts where ${ofOrganisation(of)}), 0)::int`,
  // Deleting what was stored before it was counted would make it negative.
  memoryBytes: (of) =>
    sql<number>`greatest(0, (select sum(bytes) from memory_bytes where ${ofOrganisation(of)}))::float8`,
  recordBytes: (of) =>
    sql<number>`coalesce((select sum(bytes) from record_bytes
      where ${ofOrganisation(of)} and day >= (now() at time zone 'utc')::date - ${recordDays}::int), 0)::float8`,
};
