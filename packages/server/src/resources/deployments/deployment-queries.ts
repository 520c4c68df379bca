import type { DeploymentStatus, GuardReport, Guards } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Deployments } from "../../db/generated-rows.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { sortOrder } from "../envelopes.ts";
import type { Transition } from "../transitions.ts";
import { deploymentTransitions } from "./deployment-rules.ts";

export type DeploymentRow = Selectable<Deployments>;

const selectOfAgent = (trx: OrganisationTransaction, { organisationId, agentId }: AgentKey) =>
  trx.selectFrom("deployments").where("organisation_id", "=", organisationId).where("agent_id", "=", agentId);

export const findDeployment = (trx: OrganisationTransaction, agent: AgentKey, id: string) =>
  selectOfAgent(trx, agent).selectAll().where("id", "=", id).executeTakeFirst();

/** The live deployment of an environment and its canary. Partial unique indexes allow no more than these two. */
export const listActiveDeployments = (trx: OrganisationTransaction, agent: AgentKey, environment: string) =>
  selectOfAgent(trx, agent).selectAll().where("environment", "=", environment).where("status", "=", "active").execute();

/** The same, with the definitions of their versions. */
export const listServingDeployments = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  environment: string,
) =>
  trx
    .selectFrom("deployments as d")
    .innerJoin("agent_versions as v", (join) =>
      join
        .onRef("v.organisation_id", "=", "d.organisation_id")
        .onRef("v.agent_id", "=", "d.agent_id")
        .onRef("v.label", "=", "d.version"),
    )
    .select(["d.id", "d.version", "d.traffic_percent", "d.guards", "v.definition", "v.checksum"])
    .where("d.organisation_id", "=", organisationId)
    .where("d.agent_id", "=", agentId)
    .where("d.environment", "=", environment)
    .where("d.status", "=", "active")
    .execute();

/** The deployment that was live before this one. */
export const findLiveBefore = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  { environment, live_order }: Pick<DeploymentRow, "environment" | "live_order">,
) =>
  selectOfAgent(trx, agent)
    .selectAll()
    .where("environment", "=", environment)
    .where("live_order", "<", live_order)
    .orderBy("live_order", "desc")
    .limit(1)
    .executeTakeFirst();

/** The oldest pending deployments of the environment that were created no later than this one. */
export async function listPendingUpTo(
  trx: OrganisationTransaction,
  agent: AgentKey,
  { environment, creation_order }: Pick<DeploymentRow, "environment" | "creation_order">,
  limit: number,
): Promise<string[]> {
  const rows = await selectOfAgent(trx, agent)
    .select("id")
    .where("environment", "=", environment)
    .where("status", "=", "pending")
    .where("creation_order", "<=", creation_order)
    .orderBy("creation_order")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** A rollback of the environment that was requested after this deployment, which is then obsolete. */
export const findLaterRollback = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
): Promise<Pick<DeploymentRow, "id"> | undefined> =>
  selectOfAgent(trx, agent)
    .select("id")
    .where("environment", "=", row.environment)
    .where("creation_order", ">", row.creation_order)
    .where("rollback_of", "is not", null)
    .limit(1)
    .executeTakeFirst();

export interface DeploymentFilter {
  readonly environment?: string | undefined;
  readonly status?: DeploymentStatus | undefined;
}

const selectFiltered = (trx: OrganisationTransaction, agent: AgentKey, { environment, status }: DeploymentFilter) =>
  selectOfAgent(trx, agent)
    .$if(environment !== undefined, (query) => query.where("environment", "=", environment ?? ""))
    .$if(status !== undefined, (query) => query.where("status", "=", status ?? ""));

export const listDeployments = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  filter: DeploymentFilter,
  { limit, offset, sort }: { limit: number; offset: number; sort: "created_at" | "-created_at" },
) => {
  const [, direction] = sortOrder(sort);
  return selectFiltered(trx, agent, filter)
    .selectAll()
    .orderBy("creation_order", direction)
    .limit(limit)
    .offset(offset)
    .execute();
};

/** An agent has thousands at most: counting takes a few milliseconds. */
export async function countDeployments(
  trx: OrganisationTransaction,
  agent: AgentKey,
  filter: DeploymentFilter,
): Promise<number> {
  const row = await selectFiltered(trx, agent, filter)
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
const nextSequenceNumber = sql<string>`nextval('deployment_order')`;

const toNewRow = ({ organisationId, agentId }: AgentKey, deployment: NewDeployment) => ({
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

export const insertPendingDeployment = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  deployment: NewDeployment,
): Promise<DeploymentRow> =>
  trx
    .insertInto("deployments")
    .values({ ...toNewRow(agent, deployment), status: deploymentTransitions.create.to })
    .returningAll()
    .executeTakeFirstOrThrow();

/** A rollback is live at once. */
export const insertRollback = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  deployment: NewDeployment & { readonly origin: string; readonly rollbackOf: string; readonly error: string | null },
): Promise<DeploymentRow> =>
  trx
    .insertInto("deployments")
    .values({
      ...toNewRow(agent, deployment),
      status: deploymentTransitions.restore.to,
      origin: deployment.origin,
      rollback_of: deployment.rollbackOf,
      activated_at: now,
      live_order: nextSequenceNumber,
      error: deployment.error,
    })
    .returningAll()
    .executeTakeFirstOrThrow();

const updateById = (trx: OrganisationTransaction, { organisationId, agentId }: AgentKey, id: string) =>
  trx
    .updateTable("deployments")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("id", "=", id);

/** Finds no row when the deployment has another status than the transition starts from. */
const updateStatus = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  id: string,
  { from, to }: Transition<DeploymentStatus>,
) => updateById(trx, agent, id).where("status", "in", from).set({ status: to });

export const updateActivated = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  { id, traffic_percent }: DeploymentRow,
): Promise<DeploymentRow> =>
  updateStatus(trx, agent, id, deploymentTransitions.activate)
    .set({ activated_at: now, ...(traffic_percent === 100 && { live_order: nextSequenceNumber }) })
    .returningAll()
    .executeTakeFirstOrThrow();

export const updateEnded = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  id: string,
  transition: "fail" | "supersede" | "roll_back",
  error: string | null = null,
): Promise<DeploymentRow> =>
  updateStatus(trx, agent, id, deploymentTransitions[transition])
    .set({ ended_at: now, ...(error !== null && { error }) })
    .returningAll()
    .executeTakeFirstOrThrow();

export const updateTraffic = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  id: string,
  trafficPercent: number,
): Promise<DeploymentRow> =>
  updateById(trx, agent, id)
    .set({ traffic_percent: trafficPercent, ...(trafficPercent === 100 && { live_order: nextSequenceNumber }) })
    .returningAll()
    .executeTakeFirstOrThrow();

export const updateGuardReport = async (
  trx: OrganisationTransaction,
  agent: AgentKey,
  id: string,
  report: GuardReport,
): Promise<void> => {
  await updateById(trx, agent, id)
    .set({ guard_report: JSON.stringify(report) })
    .execute();
};
