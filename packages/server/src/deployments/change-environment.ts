import type { EventType, GuardReport } from "@perch/contract";
import type { OrganisationTransaction } from "../db/database.ts";
import { insertEvent } from "../events/event-queries.ts";
import { conflict } from "../platform/api-error.ts";
import { newUuid, toPublicId } from "../platform/ids.ts";
import type { DeploymentRow } from "./deployment-queries.ts";
import * as queries from "./deployment-queries.ts";
import { toDeployment } from "./to-deployment.ts";
import type { AgentKey } from "./version-queries.ts";

/**
 * What changes which version an environment runs. Whoever calls holds the agent's row, so changes to one agent take turns; the
 * partial unique indexes would refuse a second live deployment in any case.
 */

const tell = (trx: OrganisationTransaction, agent: AgentKey, type: EventType, row: DeploymentRow) =>
  insertEvent(trx, { ...agent, type, data: toDeployment(row) });

const isCanary = ({ traffic_percent }: DeploymentRow) => traffic_percent < 100;

async function active(trx: OrganisationTransaction, agent: AgentKey, environment: string) {
  const rows = await queries.listActive(trx, agent, environment);
  return { live: rows.find((row) => !isCanary(row)), canary: rows.find(isCanary) };
}

export async function fail(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
  error: string,
): Promise<DeploymentRow> {
  const failed = await queries.end(trx, agent, row.id, "failed", error);
  await tell(trx, agent, "deployment.failed", failed);
  return failed;
}

/** A pending deployment whose checks have passed becomes live, or a canary beside what is live. */
export async function activate(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
): Promise<DeploymentRow> {
  if (row.status !== "pending") return row;
  if (await queries.isOvertaken(trx, agent, row))
    return fail(
      trx,
      agent,
      row,
      "The environment was rolled back after this deployment was created. Deploy again if it is still wanted.",
    );
  const { live, canary } = await active(trx, agent, row.environment);
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
  if (!isCanary(row)) for (const old of [live, canary]) if (old) await queries.end(trx, agent, old.id, "superseded");
  const activated = await queries.activate(trx, agent, row);
  await tell(trx, agent, "deployment.activated", activated);
  return activated;
}

function refuseUnlessCanary(row: DeploymentRow): void {
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
  refuseUnlessCanary(row);
  const { live } = await active(trx, agent, row.environment);
  if (live) await queries.end(trx, agent, live.id, "superseded");
  const promoted = await queries.setTraffic(trx, agent, row.id, 100);
  await tell(trx, agent, "deployment.activated", promoted);
  return promoted;
}

export function adjust(trx: OrganisationTransaction, agent: AgentKey, row: DeploymentRow, trafficPercent: number) {
  refuseUnlessCanary(row);
  return queries.setTraffic(trx, agent, row.id, trafficPercent);
}

/** Ends a canary. `report` says why, where a guard did it. */
export async function abort(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
  report?: GuardReport,
): Promise<DeploymentRow> {
  refuseUnlessCanary(row);
  if (report) await queries.setGuardReport(trx, agent, row.id, report);
  const error = report ? `Rolled back by its guards. ${report.reason ?? ""}` : "Aborted.";
  const ended = await queries.end(trx, agent, row.id, "rolled_back", error);
  await tell(trx, agent, "deployment.rolled_back", ended);
  return ended;
}

async function targetOf(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
  live: DeploymentRow,
): Promise<DeploymentRow> {
  if (row.live === null)
    throw conflict(`${toPublicId("deployment", row.id)} was never live: it is ${row.status}. Choose one that was.`);
  // Asked twice, by two people or by a retry, a rollback must not bring back what it took away.
  if (row.status === "rolled_back")
    throw conflict(
      `${toPublicId("deployment", row.id)} was rolled back already. If its version is wanted, deploy it with "redeploy": true.`,
    );
  if (row.id !== live.id) return row;
  // A rollback's place in history is that of the deployment whose version it made live again: a second one goes further back.
  const origin = row.origin === row.id ? row : await queries.findDeployment(trx, agent, row.origin);
  const before = origin && (await queries.findLiveBefore(trx, agent, origin));
  if (!before) throw conflict(`Nothing was live in ${row.environment} before ${toPublicId("deployment", row.id)}.`);
  return before;
}

/** The environment runs the version of this deployment again or, if it is the live one, what was live before it. */
export async function rollBack(
  trx: OrganisationTransaction,
  agent: AgentKey,
  row: DeploymentRow,
  createdBy: string,
): Promise<DeploymentRow> {
  if (row.status === "active" && isCanary(row)) return abort(trx, agent, row);
  const { live, canary } = await active(trx, agent, row.environment);
  if (!live) throw conflict(`Nothing is live in ${row.environment}.`);
  const target = await targetOf(trx, agent, row, live);
  await tell(trx, agent, "deployment.rolled_back", await queries.end(trx, agent, live.id, "rolled_back"));
  if (canary) await queries.end(trx, agent, canary.id, "superseded");
  const made = await queries.insertRollback(trx, agent, {
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
  await tell(trx, agent, "deployment.activated", made);
  return made;
}
