import type { DeploymentStatus, GuardReport, Guards } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import type { Deployments } from "../db/generated-rows.ts";
import { sortOrder } from "../platform/envelopes.ts";
import type { AgentKey } from "./version-queries.ts";

export type DeploymentRow = Selectable<Deployments>;

const own = (trx: OrganisationTransaction, { organisationId, agentId }: AgentKey) =>
  trx.selectFrom("deployments").where("organisation_id", "=", organisationId).where("agent_id", "=", agentId);

export const findDeployment = (trx: OrganisationTransaction, agent: AgentKey, id: string) =>
  own(trx, agent).selectAll().where("id", "=", id).executeTakeFirst();

/** The live deployment of an environment and its canary: at most two rows, by partial indexes, however many there were. */
export const listActive = (trx: OrganisationTransaction, agent: AgentKey, environment: string) =>
  own(trx, agent).selectAll().where("environment", "=", environment).where("status", "=", "active").execute();

/** The same, with what they run. */
export const listServing = (trx: OrganisationTransaction, { organisationId, agentId }: AgentKey, environment: string) =>
  trx
    .selectFrom("deployments as d")
    .innerJoin("agent_versions as v", (join) =>
      join
        .onRef("v.organisation_id", "=", "d.organisation_id")
        .onRef("v.agent_id", "=", "d.agent_id")
        .onRef("v.label", "=", "d.version"),
    )
    .select(["d.id", "d.version", "d.traffic_percent", "d.guards", "v.definition"])
    .where("d.organisation_id", "=", organisationId)
    .where("d.agent_id", "=", agentId)
    .where("d.environment", "=", environment)
    .where("d.status", "=", "active")
    .execute();

/** What was live before this one became so. */
export const findLiveBefore = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  { environment, live }: Pick<DeploymentRow, "environment" | "live">,
) =>
  own(trx, agent)
    .selectAll()
    .where("environment", "=", environment)
    .where("live", "<", live)
    .orderBy("live", "desc")
    .limit(1)
    .executeTakeFirst();

/** Whether the environment was rolled back after this deployment was asked for: then it is no longer wanted. */
export async function isOvertaken(trx: OrganisationTransaction, agent: AgentKey, row: DeploymentRow): Promise<boolean> {
  const found = await own(trx, agent)
    .select("id")
    .where("environment", "=", row.environment)
    .where("asked", ">", row.asked)
    .where("rollback_of", "is not", null)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

export interface DeploymentFilter {
  readonly environment?: string | undefined;
  readonly status?: DeploymentStatus | undefined;
}

const filtered = (trx: OrganisationTransaction, agent: AgentKey, { environment, status }: DeploymentFilter) =>
  own(trx, agent)
    .$if(environment !== undefined, (query) => query.where("environment", "=", environment ?? ""))
    .$if(status !== undefined, (query) => query.where("status", "=", status ?? ""));

export const listDeployments = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  filter: DeploymentFilter,
  { limit, offset, sort }: { limit: number; offset: number; sort: "created_at" | "-created_at" },
) => {
  const [, direction] = sortOrder(sort);
  return filtered(trx, agent, filter).selectAll().orderBy("asked", direction).limit(limit).offset(offset).execute();
};

/** Thousands at most of one agent: some milliseconds. */
export async function countDeployments(
  trx: OrganisationTransaction,
  agent: AgentKey,
  filter: DeploymentFilter,
): Promise<number> {
  const row = await filtered(trx, agent, filter)
    .select((eb) => eb.fn.countAll<string>().as("deployments"))
    .executeTakeFirstOrThrow();
  return Number(row.deployments);
}

export interface NewDeployment {
  readonly id: string;
  readonly environment: string;
  readonly version: string;
  readonly trafficPercent: number;
  readonly guards: Guards | null;
  readonly createdBy: string | null;
}

const now = sql<Date>`clock_timestamp()`;
const nextPlace = sql<string>`nextval('deployment_order')`;

const newRow = ({ organisationId, agentId }: AgentKey, deployment: NewDeployment) => ({
  organisation_id: organisationId,
  agent_id: agentId,
  id: deployment.id,
  origin: deployment.id,
  environment: deployment.environment,
  version: deployment.version,
  traffic_percent: deployment.trafficPercent,
  guards: deployment.guards && JSON.stringify(deployment.guards),
  created_by: deployment.createdBy,
});

export const insertPending = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  deployment: NewDeployment,
): Promise<DeploymentRow> =>
  trx
    .insertInto("deployments")
    .values({ ...newRow(agent, deployment), status: "pending" })
    .returningAll()
    .executeTakeFirstOrThrow();

/** Live at once: the record of a rollback. */
export const insertRollback = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  deployment: NewDeployment & { readonly origin: string; readonly rollbackOf: string; readonly error: string | null },
): Promise<DeploymentRow> =>
  trx
    .insertInto("deployments")
    .values({
      ...newRow(agent, deployment),
      status: "active",
      origin: deployment.origin,
      rollback_of: deployment.rollbackOf,
      activated_at: now,
      live: nextPlace,
      error: deployment.error,
    })
    .returningAll()
    .executeTakeFirstOrThrow();

const change = (trx: OrganisationTransaction, { organisationId, agentId }: AgentKey, id: string) =>
  trx
    .updateTable("deployments")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("id", "=", id);

export const activate = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  { id, traffic_percent }: DeploymentRow,
): Promise<DeploymentRow> =>
  change(trx, agent, id)
    .set({ status: "active", activated_at: now, ...(traffic_percent === 100 && { live: nextPlace }) })
    .returningAll()
    .executeTakeFirstOrThrow();

export const end = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  id: string,
  status: "failed" | "superseded" | "rolled_back",
  error: string | null = null,
): Promise<DeploymentRow> =>
  change(trx, agent, id)
    .set({ status, ended_at: now, ...(error !== null && { error }) })
    .returningAll()
    .executeTakeFirstOrThrow();

export const setTraffic = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  id: string,
  trafficPercent: number,
): Promise<DeploymentRow> =>
  change(trx, agent, id)
    .set({ traffic_percent: trafficPercent, ...(trafficPercent === 100 && { live: nextPlace }) })
    .returningAll()
    .executeTakeFirstOrThrow();

export const setGuardReport = async (
  trx: OrganisationTransaction,
  agent: AgentKey,
  id: string,
  report: GuardReport,
): Promise<void> => {
  await change(trx, agent, id)
    .set({ guard_report: JSON.stringify(report) })
    .execute();
};
