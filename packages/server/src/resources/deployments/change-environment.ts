import type { EventType, GuardReport } from "@perch/contract";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { conflict } from "../../platform/api-error.ts";
import { newUuid, toPublicId } from "../../platform/ids.ts";
import { insertEvent } from "../events/event-queries.ts";
import type { DeploymentRow } from "./deployment-queries.ts";
import * as queries from "./deployment-queries.ts";
import { toDeployment } from "./to-deployment.ts";

/**
 * Changes which version an environment runs. The caller has locked the agent's row, so changes to one agent are serialised; the
 * partial unique indexes would reject a second live deployment in any case.
 */

const publishEvent = (trx: OrganisationTransaction, agent: AgentKey, type: EventType, row: DeploymentRow) =>
  insertEvent(trx, { ...agent, type, data: toDeployment(row) });

const isCanary = ({ traffic_percent }: DeploymentRow) => traffic_percent < 100;

async function findActive(trx: OrganisationTransaction, agent: AgentKey, environment: string) {
  const rows = await queries.listActiveDeployments(trx, agent, environment);
  return { live: rows.find((row) => !isCanary(row)), canary: rows.find(isCanary) };
}

export async function fail(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
  error: string,
): Promise<DeploymentRow> {
  const failed = await queries.updateEnded(trx, agent, row.id, "fail", error);
  await publishEvent(trx, agent, "deployment.failed", failed);
  return failed;
}

/** A pending deployment whose checks have passed becomes live, or a canary beside the live one. */
export async function activate(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
): Promise<DeploymentRow> {
  if (row.status !== "pending") return row;
  if (await queries.findLaterRollback(trx, agent, row))
    return fail(
      trx,
      agent,
      row,
      "The environment was rolled back after this deployment was created. Deploy again if it is still wanted.",
    );
  const { live, canary } = await findActive(trx, agent, row.environment);
  if (isCanary(row) && !live)
    return fail(
      trx,
      agent,
      row,
      "There is no live deployment to be a canary beside. Deploy with a traffic_percent of 100.",
    );
  if (isCanary(row) && canary)
    return fail(
      trx,
      agent,
      row,
      `There is a canary already: ${toPublicId("deployment", canary.id)}. Promote or abort it first.`,
    );
  if (!isCanary(row))
    for (const old of [live, canary]) if (old) await queries.updateEnded(trx, agent, old.id, "supersede");
  const activated = await queries.updateActivated(trx, agent, row);
  await publishEvent(trx, agent, "deployment.activated", activated);
  return activated;
}

function assertCanary(row: DeploymentRow): void {
  if (row.status !== "active" || !isCanary(row))
    throw conflict(
      `${toPublicId("deployment", row.id)} is no canary: it is ${row.status}, with ${row.traffic_percent} % of the traffic.`,
    );
}

export async function promote(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
): Promise<DeploymentRow> {
  if (row.status === "active" && !isCanary(row)) return row;
  assertCanary(row);
  const { live } = await findActive(trx, agent, row.environment);
  if (live) await queries.updateEnded(trx, agent, live.id, "supersede");
  const promoted = await queries.updateTraffic(trx, agent, row.id, 100);
  await publishEvent(trx, agent, "deployment.activated", promoted);
  return promoted;
}

/** Returns the same row if nothing changes. */
export async function adjustTraffic(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
  trafficPercent: number,
): Promise<DeploymentRow> {
  assertCanary(row);
  if (row.traffic_percent === trafficPercent) return row;
  return queries.updateTraffic(trx, agent, row.id, trafficPercent);
}

/** Ends a canary. `report` is given when a guard ended it. */
export async function abort(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
  report?: GuardReport,
): Promise<DeploymentRow> {
  assertCanary(row);
  if (report) await queries.updateGuardReport(trx, agent, row.id, report);
  const error = report ? `Rolled back by its guards. ${report.reason ?? ""}` : "Aborted.";
  const ended = await queries.updateEnded(trx, agent, row.id, "roll_back", error);
  await publishEvent(trx, agent, "deployment.rolled_back", ended);
  return ended;
}

async function findRollbackTarget(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
  live: DeploymentRow,
): Promise<DeploymentRow> {
  if (row.live_order === null)
    throw conflict(`${toPublicId("deployment", row.id)} was never live: it is ${row.status}. Choose one that was.`);
  // A repeated rollback must not restore the version that the first one removed.
  if (row.status === "rolled_back")
    throw conflict(
      `${toPublicId("deployment", row.id)} was rolled back already. If its version is wanted, deploy it with "redeploy": true.`,
    );
  if (row.id !== live.id) return row;
  // A rollback takes the position of the deployment it restored, so that a second rollback goes further back.
  const origin = row.origin === row.id ? row : await queries.findDeployment(trx, agent, row.origin);
  const predecessor = origin && (await queries.findLiveBefore(trx, agent, origin));
  if (!predecessor)
    throw conflict(`Nothing was live in ${row.environment} before ${toPublicId("deployment", row.id)}.`);
  return predecessor;
}

/** Restores the version of this deployment or, if it is the live one, of the deployment before it. */
export async function rollBack(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
  createdBy: string | null,
): Promise<DeploymentRow> {
  if (row.status === "active" && isCanary(row)) return abort(trx, agent, row);
  const { live, canary } = await findActive(trx, agent, row.environment);
  if (!live) throw conflict(`Nothing is live in ${row.environment}.`);
  const target = await findRollbackTarget(trx, agent, row, live);
  await publishEvent(trx, agent, "deployment.rolled_back", await queries.updateEnded(trx, agent, live.id, "roll_back"));
  if (canary) await queries.updateEnded(trx, agent, canary.id, "supersede");
  const rollback = await queries.insertRollback(trx, agent, {
    id: newUuid(),
    environment: row.environment,
    version: target.version,
    trafficPercent: 100,
    guards: null,
    createdBy,
    origin: target.origin,
    rollbackOf: live.id,
    error: null,
  });
  await publishEvent(trx, agent, "deployment.activated", rollback);
  return rollback;
}
