import type { GuardReport, Guards } from "@perch/contract";
import { findAgentForUpdate } from "../agents/agent-queries.ts";
import type { Database, OrganisationTransaction } from "../db/database.ts";
import type { OrganisationChanges } from "../gate/organisation-changes.ts";
import { toPublicId } from "../platform/ids.ts";
import * as environment from "./change-environment.ts";
import * as queries from "./deployment-queries.ts";
import { brokenGuard, checkEveryMs, isEnoughToJudge } from "./deployment-rules.ts";
import type { Preflight } from "./preflight.ts";
import { figuresOf } from "./trial-queries.ts";
import { type AgentKey, definitionOf, findVersion } from "./version-queries.ts";

/** A deployment, as its workflow knows it. */
export interface DeploymentKey extends AgentKey {
  readonly id: string;
  readonly environment: string;
}

interface ActivationDeps {
  readonly db: Database;
  readonly changes: OrganisationChanges;
  readonly preflight: Preflight;
  /** Called when events may have been written. */
  readonly dispatchDeliveries: () => void;
  readonly now: () => number;
}

/** What the steps of a deployment's workflows do. */
export interface DeploymentSteps {
  /** What is wrong with it, in words for its maker; null when nothing is, "absent" while nobody can see it yet. */
  readonly check: (deployment: DeploymentKey) => Promise<{ readonly error: string | null } | "absent">;
  /** Makes it live, or says why not. Tells when to look at it first, if it is a guarded canary. */
  readonly activate: (
    deployment: DeploymentKey,
    error: string | null,
  ) => Promise<{ readonly watchAfterMs: number | null }>;
  /** One look at a guarded canary. Tells when to look again; null when there is nothing left to watch. */
  readonly watch: (deployment: DeploymentKey) => Promise<{ readonly againAfterMs: number | null }>;
}

export function createDeploymentSteps({
  db,
  changes,
  preflight,
  dispatchDeliveries,
  now,
}: ActivationDeps): DeploymentSteps {
  const find = (trx: OrganisationTransaction, deployment: DeploymentKey) =>
    queries.findDeployment(trx, deployment, deployment.id);

  /** The agent first, then what belongs to it. Nothing is done for an agent that was deleted meanwhile. */
  const onHeld = async <T>(
    deployment: DeploymentKey,
    work: (trx: OrganisationTransaction, row: queries.DeploymentRow) => Promise<T>,
  ): Promise<T | undefined> => {
    const result = await changes.commit(deployment.organisationId, async (trx) => {
      const scope = { organisationId: deployment.organisationId, agentId: null };
      const agent = await findAgentForUpdate(trx, scope, toPublicId("agent", deployment.agentId));
      const row = agent && (await find(trx, deployment));
      return row && work(trx, row);
    });
    dispatchDeliveries();
    return result;
  };

  const check: DeploymentSteps["check"] = async (deployment) => {
    const version = await db.inOrganisation(deployment.organisationId, async (trx) => {
      const row = await find(trx, deployment);
      return row && findVersion(trx, deployment, row.version);
    });
    if (!version) return "absent";
    return { error: await preflight(deployment.organisationId, definitionOf(version)) };
  };

  const activate: DeploymentSteps["activate"] = async (deployment, error) => {
    const row = await onHeld(deployment, (trx, pending) => {
      if (pending.status !== "pending") return Promise.resolve(pending);
      return error === null
        ? environment.activate(trx, deployment, pending)
        : environment.fail(trx, deployment, pending, error);
    });
    const guards = row?.status === "active" && row.traffic_percent < 100 ? (row.guards as Guards | null) : null;
    return { watchAfterMs: guards && checkEveryMs(guards) };
  };

  const report = async (
    trx: OrganisationTransaction,
    row: queries.DeploymentRow,
    guards: Guards,
  ): Promise<GuardReport> => {
    const { canary, live } = await figuresOf(trx, row);
    const judged = isEnoughToJudge(guards, canary, live);
    const reason = judged ? (brokenGuard(guards, canary, live) ?? null) : null;
    const verdict = reason !== null ? "rolled_back" : judged ? "healthy" : "waiting";
    return { checked_at: new Date(now()).toISOString(), verdict, reason, canary, live };
  };

  const watch: DeploymentSteps["watch"] = async (deployment) => {
    // Looked at without holding anything: most looks change nothing but the report.
    const looked = await db.inOrganisation(deployment.organisationId, async (trx) => {
      const row = await find(trx, deployment);
      const guards = row?.guards as Guards | null | undefined;
      if (!row || !guards || row.status !== "active" || row.traffic_percent === 100) return undefined;
      const found = await report(trx, row, guards);
      if (found.verdict !== "rolled_back") await queries.setGuardReport(trx, deployment, row.id, found);
      const endsAtMs = (row.activated_at?.getTime() ?? 0) + guards.window_seconds * 1000;
      return { found, againAfterMs: now() < endsAtMs ? checkEveryMs(guards) : null };
    });
    if (!looked) return { againAfterMs: null };
    if (looked.found.verdict !== "rolled_back") return { againAfterMs: looked.againAfterMs };
    await onHeld(deployment, async (trx, row) => {
      if (row.status === "active" && row.traffic_percent < 100)
        await environment.abort(trx, deployment, row, looked.found);
    });
    return { againAfterMs: null };
  };

  return { check, activate, watch };
}
