import { sql } from "kysely";
import { countUpTo } from "../../db/count-up-to.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";

/** An agent far above a lowered limit loses at most this many ended deployments with each new one. */
const maxDeleted = 1000;

/**
 * Deletes the deployments that ended first if the agent has more than `max`. Deployments that a rollback of an
 * environment would restore stay: the one whose version is live, and the one that was live before it.
 */
export async function deleteOldestEnded(trx: OrganisationTransaction, agent: AgentKey, max: number): Promise<void> {
  const { organisationId, agentId } = agent;
  const all = trx
    .selectFrom("deployments")
    .select("id")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId);
  const excess = (await countUpTo(trx, all, max + maxDeleted)) - max;
  if (excess <= 0) return;
  await sql`
    with live as (
      select o.id, o.environment, o.live_order
        from deployments d join deployments o on o.organisation_id = d.organisation_id and o.id = d.origin
        where d.organisation_id = ${organisationId} and d.agent_id = ${agentId} and d.status = 'active' and d.traffic_percent = 100
    ), needed as (
      select id from live
      union all
      select before.id from live, lateral (
        select p.id from deployments p
          where p.organisation_id = ${organisationId} and p.agent_id = ${agentId}
            and p.environment = live.environment and p.live_order < live.live_order
          order by p.live_order desc limit 1) before
    )
    delete from deployments where organisation_id = ${organisationId} and agent_id = ${agentId} and id = any (array(
      select d.id from deployments d
        where d.organisation_id = ${organisationId} and d.agent_id = ${agentId}
          and d.status in ('failed', 'superseded', 'rolled_back') and d.id not in (select id from needed)
        order by d.ended_at, d.creation_order limit ${excess}))`.execute(trx);
}
