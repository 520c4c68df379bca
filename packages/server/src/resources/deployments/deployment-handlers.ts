import { type DeploymentOperationKey, tierLimits } from "@perch/contract";
import type { Caller, Scope } from "../../auth/caller.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { Engine } from "../../engine/engine.ts";
import { createKeyedMutex } from "../../fairness/keyed-mutex.ts";
import type { Share } from "../../fairness/shares.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { ApiError, notFound } from "../../platform/api-error.ts";
import { Unchanged } from "../../platform/change-results.ts";
import { newUuid, parsePublicId } from "../../platform/ids.ts";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import { type AgentRow, findAgentForUpdate } from "../agents/agent-queries.ts";
import { featuresNeededBy } from "../agents/definition-features.ts";
import { requireUnderstood } from "../agents/require-understood.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import type { EngineTasks } from "../engine-tasks/engine-tasks.ts";
import { page, single, uncountedPage } from "../envelopes.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { findApprovalFloor } from "../secrets/approval-floors.ts";
import * as environment from "./change-environment.ts";
import * as queries from "./deployment-queries.ts";
import { deleteOldestEnded } from "./kept-deployments.ts";
import {
  fromDeploymentCursor,
  listAllDeployments,
  toDeploymentCursor,
  toDeploymentOfAnyAgent,
} from "./list-all-deployments.ts";
import type { Preflight } from "./preflight.ts";
import { toDeployment } from "./to-deployment.ts";
import { definitionOf, findVersion, insertVersion } from "./version-queries.ts";
import { checksumOf, type Definition, listDifferingFields } from "./version-rules.ts";

interface DeploymentDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly engine: Pick<Engine, "dispatchDeliveries">;
  readonly engineTasks: EngineTasks;
  readonly quotas: Quotas;
  readonly preflight: Preflight;
  /** How many agents of one organisation may be checked at once. */
  readonly agentChecks: Pick<Share, "hold">;
}

interface DeploymentRef {
  readonly agent_id: string;
  readonly deployment_id: string;
}

const toAgentKey = ({ organisation_id: organisationId, id: agentId }: AgentRow): AgentKey => ({
  organisationId,
  agentId,
});

async function getDeployment(
  trx: OrganisationTransaction,
  agent: AgentKey,
  { deployment_id }: DeploymentRef,
): Promise<queries.DeploymentRow> {
  const id = parsePublicId("deployment", deployment_id);
  const row = id && (await queries.findDeployment(trx, agent, id));
  if (!row) throw notFound("deployment", deployment_id);
  return row;
}

/** Locks the agent's row until the transaction ends, so that changes to one agent's environments are serialised. */
async function lockAgent(trx: OrganisationTransaction, scope: Scope, ref: string): Promise<AgentRow> {
  const agent = await findAgentForUpdate(trx, scope, ref);
  if (!agent) throw notFound("agent", ref);
  return agent;
}

/** Returns the definition of the version, which it creates at the label's first use. A used label with a changed draft is rejected: it is probably a mistake. */
async function ensureVersion(
  trx: OrganisationTransaction,
  agent: AgentRow,
  { version: label, redeploy }: { readonly version: string; readonly redeploy: boolean },
  { keyId: createdBy, organisation }: Caller,
  quotas: Quotas,
): Promise<Definition> {
  const { definition } = storedDefinition(agent);
  const key = toAgentKey(agent);
  const existing = await findVersion(trx, key, label);
  const checksum = checksumOf(definition);
  if (!existing && redeploy) throw notFound("version", label);
  if (!existing) {
    await quotas.requireRoom(trx, organisation, "versionsPerAgent", agent.id);
    await insertVersion(trx, key, { label, definition, checksum, createdBy });
    return definition;
  }
  if (redeploy || existing.checksum.equals(checksum)) return definitionOf(existing);
  const { fields, text } = listDifferingFields(definitionOf(existing), definition);
  throw new ApiError(
    "conflict",
    `The version ${label} exists, and the draft differs from it in ${text}. Choose a new label, or deploy the version as it is with "redeploy": true.`,
    { details: fields.map((field) => ({ field, error: `Differs from version ${label}` })) },
  );
}

/** A rollback is never refused for a quota, but like a new deployment it pushes out the oldest that has ended. */
const deleteBeyondQuota = (trx: OrganisationTransaction, { organisation }: Caller, agent: AgentKey): Promise<void> =>
  deleteOldestEnded(trx, agent, tierLimits[organisation.tier].deploymentsPerAgent);

/** One change per organisation at a time in a process: more would only wait for the row lock, with a connection each. */
const maxWaiting = 200;

/** The request waits for it. */
const checkTimeoutMs = 5000;

export const deploymentHandlers = (deps: DeploymentDeps) => {
  const { db, agents, engine, engineTasks, quotas, preflight, agentChecks } = deps;
  const runExclusive = createKeyedMutex(maxWaiting);
  const changeDeployment = (
    { scope, change }: RequestContext,
    params: DeploymentRef,
    work: (trx: OrganisationTransaction, agent: AgentKey, row: queries.DeploymentRow) => Promise<queries.DeploymentRow>,
  ) =>
    runExclusive(scope.organisationId, async () => {
      const answer = await change(async (trx) => {
        const agent = toAgentKey(await lockAgent(trx, scope, params.agent_id));
        const row = await getDeployment(trx, agent, params);
        const next = await work(trx, agent, row);
        const shown = single(toDeployment(next));
        return next === row ? new Unchanged(shown) : shown;
      });
      engine.dispatchDeliveries();
      return answer;
    });

  const withAgent = async <T>(
    context: RequestContext,
    ref: string,
    work: (trx: OrganisationTransaction, agent: AgentKey) => Promise<T>,
  ) => {
    const agent = toAgentKey(await agents.get(context, ref));
    return db.inOrganisation(agent.organisationId, (trx) => work(trx, agent));
  };

  return {
    "POST /v1/agents/{agent_id}/check": async ({ params }, context) => {
      const agent = await agents.get(context, params.agent_id);
      const { definition } = storedDefinition(agent);
      const problems = await agentChecks.hold(agent.organisation_id, () =>
        preflight(toAgentKey(agent), definition, checkTimeoutMs),
      );
      return single({ problems: [...problems] });
    },

    "POST /v1/agents/{agent_id}/deployments": ({ params, body }, { caller, scope, change }) =>
      runExclusive(scope.organisationId, () =>
        engineTasks.change(change, async (trx, add) => {
          const agent = await lockAgent(trx, scope, params.agent_id);
          const key = toAgentKey(agent);
          await quotas.requireRoom(trx, caller.organisation, "deploymentsPerAgent", agent.id);
          const definition = await ensureVersion(trx, agent, body, caller, quotas);
          const floor = await findApprovalFloor(trx, key, { definition, security: storedDefinition(agent).security });
          await requireUnderstood(db, featuresNeededBy(definition, floor));
          const row = await queries.insertPendingDeployment(trx, key, {
            id: newUuid(),
            environment: body.environment,
            version: body.version,
            trafficPercent: body.traffic_percent,
            guards: body.guards ?? null,
            createdBy: caller.keyId,
          });
          const { id, environment } = row;
          await add({ kind: "activate_deployment", ...key, id, environment });
          await deleteBeyondQuota(trx, caller, key);
          return single(toDeployment(row));
        }),
      ),

    "GET /v1/agents/{agent_id}/deployments": ({ params, query }, context) =>
      withAgent(context, params.agent_id, async (trx, agent) => {
        const rows = await queries.listDeployments(trx, agent, query, query);
        return page(rows.map(toDeployment), query, await queries.countDeployments(trx, agent, query));
      }),

    "GET /v1/deployments": async ({ query }, context) => {
      const { scope } = context;
      const { agent_id, cursor, limit, ...filter } = query;
      const agentId = agent_id === undefined ? undefined : (await agents.get(context, agent_id)).id;
      const before = cursor === undefined ? undefined : fromDeploymentCursor(cursor);
      const { rows, end } = await db.inOrganisation(scope.organisationId, (trx) =>
        listAllDeployments(trx, scope, { ...filter, agentId }, { limit, before }),
      );
      return uncountedPage(rows.map(toDeploymentOfAnyAgent), query, end === undefined ? null : toDeploymentCursor(end));
    },

    "GET /v1/agents/{agent_id}/deployments/{deployment_id}": ({ params }, context) =>
      withAgent(context, params.agent_id, async (trx, agent) =>
        single(toDeployment(await getDeployment(trx, agent, params))),
      ),

    "PATCH /v1/agents/{agent_id}/deployments/{deployment_id}": ({ params, body }, context) =>
      changeDeployment(context, params, (trx, agent, row) =>
        environment.adjustTraffic(trx, agent, row, body.traffic_percent),
      ),

    "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote": ({ params }, context) =>
      changeDeployment(context, params, environment.promote),

    "POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort": ({ params }, context) =>
      changeDeployment(context, params, (trx, agent, row) => environment.abort(trx, agent, row)),

    "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback": ({ params }, context) =>
      changeDeployment(context, params, async (trx, agent, row) => {
        const rollback = await environment.rollBack(trx, agent, row, context.caller.keyId);
        await deleteBeyondQuota(trx, context.caller, agent);
        return rollback;
      }),
  } satisfies Handlers<DeploymentOperationKey>;
};
