import type { GuardReport, Guards } from "@perch/contract";
import type { OrganisationChanges } from "../../cache/organisation-changes.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { CanaryWatch, DeploymentKey } from "../../engine/messages.ts";
import { toPublicId } from "../../platform/ids.ts";
import { findAgent, findAgentForUpdate } from "../agents/agent-queries.ts";
import { insertEntryWithoutCaller } from "../audit/audit-entry.ts";
import * as environment from "./change-environment.ts";
import * as queries from "./deployment-queries.ts";
import { checkIntervalMs, findBrokenGuard, hasEnoughRuns } from "./deployment-rules.ts";
import type { Preflight } from "./preflight.ts";
import { findTrialStats } from "./trial-queries.ts";
import { definitionOf, findVersion } from "./version-queries.ts";

interface ActivationDeps {
  readonly db: Database;
  readonly changes: OrganisationChanges;
  readonly preflight: Preflight;
  /** Called after a transaction that may have written events. */
  readonly dispatchDeliveries: () => void;
  readonly now: () => number;
}

/** The steps of a deployment's workflows. */
export interface DeploymentSteps {
  /**
   * The ids of the deployments that its environment has to activate up to and including it, oldest first; "absent"
   * while its row is not committed yet.
   */
  readonly listQueue: (deployment: DeploymentKey, limit: number) => Promise<readonly string[] | "absent">;
  /** The problem with it, for its creator; null if there is none. */
  readonly check: (deployment: DeploymentKey) => Promise<{ readonly error: string | null }>;
  /** Makes it live, or fails it with `error`. Returns when to check it first, if it is a guarded canary. */
  readonly activate: (
    deployment: DeploymentKey,
    error: string | null,
  ) => Promise<{ readonly watchAfterMs: number | null }>;
  /** Checks a guarded canary once. Returns when to check again; null when there is nothing left to watch. */
  readonly watch: (watch: CanaryWatch) => Promise<{ readonly againAfterMs: number | null }>;
}

const checkTimeoutMs = 20_000;

/** When a canary was last looked at, or else became active. */
function lastLookedAtMs({ guard_report, activated_at }: queries.DeploymentRow): number {
  const report = guard_report as GuardReport | null;
  return report ? Date.parse(report.checked_at) : (activated_at?.getTime() ?? 0);
}

const scopeOf = ({ organisationId }: DeploymentKey) => ({ organisationId, onlyAgentId: null });

export function createDeploymentSteps({
  db,
  changes,
  preflight,
  dispatchDeliveries,
  now,
}: ActivationDeps): DeploymentSteps {
  const find = (trx: OrganisationTransaction, deployment: DeploymentKey) =>
    queries.findDeployment(trx, deployment, deployment.id);

  /**
   * Locks the agent's row, as every change to its deployments does. Does nothing if the agent was deleted in the
   * meantime.
   */
  const withLockedDeployment = async <T>(
    deployment: DeploymentKey,
    work: (trx: OrganisationTransaction, row: queries.DeploymentRow) => Promise<T>,
  ): Promise<T | undefined> => {
    const result = await changes.commit(deployment.organisationId, async (trx) => {
      const agent = await findAgentForUpdate(trx, scopeOf(deployment), toPublicId("agent", deployment.agentId));
      const row = agent && (await find(trx, deployment));
      return row && work(trx, row);
    });
    dispatchDeliveries();
    return result;
  };

  const listQueue: DeploymentSteps["listQueue"] = (deployment, limit) =>
    db.inOrganisation(deployment.organisationId, async (trx) => {
      const row = await find(trx, deployment);
      if (!row) return "absent";
      // Deployments of a deleted agent stay as they are, so there is nothing to do.
      const agent = await findAgent(trx, scopeOf(deployment), toPublicId("agent", deployment.agentId));
      return agent ? queries.listPendingUpTo(trx, deployment, row, limit) : [];
    });

  const check: DeploymentSteps["check"] = async (deployment) => {
    const version = await db.inOrganisation(deployment.organisationId, async (trx) => {
      const row = await find(trx, deployment);
      return row && findVersion(trx, deployment, row.version);
    });
    if (!version) throw new Error(`The version of deployment ${deployment.id} was not found`);
    const problems = await preflight(deployment, definitionOf(version), checkTimeoutMs);
    return { error: problems.map(({ message }) => message).join(" ") || null };
  };

  const activate: DeploymentSteps["activate"] = async (deployment, error) => {
    const row = await withLockedDeployment(deployment, (trx, pending) => {
      if (pending.status !== "pending") return Promise.resolve(pending);
      return error === null
        ? environment.activate(trx, deployment, pending)
        : environment.fail(trx, deployment, pending, error);
    });
    const guards = row?.status === "active" && row.traffic_percent < 100 ? (row.guards as Guards | null) : null;
    return { watchAfterMs: guards && checkIntervalMs(guards) };
  };

  const createGuardReport = async (
    trx: OrganisationTransaction,
    row: queries.DeploymentRow,
    guards: Guards,
  ): Promise<GuardReport> => {
    const { canary, live } = await findTrialStats(trx, row);
    const isDecidable = hasEnoughRuns(guards, canary, live);
    const reason = isDecidable ? (findBrokenGuard(guards, canary, live) ?? null) : null;
    const verdict = reason !== null ? "rolled_back" : isDecidable ? "healthy" : "waiting";
    return { checked_at: new Date(now()).toISOString(), verdict, reason, canary, live };
  };

  const watch: DeploymentSteps["watch"] = async (deployment) => {
    // Without a lock: most checks change nothing but the report.
    const checked = await db.inOrganisation(deployment.organisationId, async (trx) => {
      const row = await find(trx, deployment);
      const guards = row?.guards as Guards | null | undefined;
      if (!row || !guards || row.status !== "active" || row.traffic_percent === 100) return undefined;
      // The watch was taken for lost, and is not: another look would begin a second one beside it.
      if (deployment.ifLastLookedAt !== undefined && lastLookedAtMs(row) !== deployment.ifLastLookedAt)
        return undefined;
      const guardReport = await createGuardReport(trx, row, guards);
      if (guardReport.verdict !== "rolled_back") await queries.updateGuardReport(trx, deployment, row.id, guardReport);
      const endsAtMs = (row.activated_at?.getTime() ?? 0) + guards.window_seconds * 1000;
      return { guardReport, againAfterMs: now() < endsAtMs ? checkIntervalMs(guards) : null };
    });
    if (!checked) return { againAfterMs: null };
    if (checked.guardReport.verdict !== "rolled_back") return { againAfterMs: checked.againAfterMs };
    await withLockedDeployment(deployment, async (trx, row) => {
      if (row.status !== "active" || row.traffic_percent === 100) return;
      await environment.abort(trx, deployment, row, checked.guardReport);
      await insertEntryWithoutCaller(trx, deployment.organisationId, {
        actor: "system",
        operation: "rollBackCanary",
        resourceType: "deployment",
        resource: toPublicId("deployment", row.id),
        agent: { id: deployment.agentId },
      });
    });
    return { againAfterMs: null };
  };

  return { listQueue, check, activate, watch };
}
