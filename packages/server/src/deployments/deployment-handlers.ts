import type { DeploymentOperationKey } from "@perch/contract";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import { type AgentRow, findAgentForUpdate } from "../agents/agent-queries.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import type { Database, OrganisationTransaction } from "../db/database.ts";
import type { Engine } from "../engine/engine.ts";
import type { Handlers, RequestContext, Scope } from "../handlers.ts";
import { ApiError, notFound } from "../platform/api-error.ts";
import { page, single } from "../platform/envelopes.ts";
import { newUuid, parsePublicId } from "../platform/ids.ts";
import { createTurns } from "../platform/turns.ts";
import * as environment from "./change-environment.ts";
import * as queries from "./deployment-queries.ts";
import { toDeployment } from "./to-deployment.ts";
import { type AgentKey, definitionOf, findVersion, insertVersion } from "./version-queries.ts";
import { checksumOf, differingFields } from "./version-rules.ts";

interface DeploymentDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly engine: Engine;
}

interface DeploymentRef {
  readonly agent_id: string;
  readonly deployment_id: string;
}

const keyOf = ({ organisation_id: organisationId, id: agentId }: AgentRow): AgentKey => ({ organisationId, agentId });

async function found(
  trx: OrganisationTransaction,
  agent: AgentKey,
  { deployment_id }: DeploymentRef,
): Promise<queries.DeploymentRow> {
  const id = parsePublicId("deployment", deployment_id);
  const row = id && (await queries.findDeployment(trx, agent, id));
  if (!row) throw notFound("deployment", deployment_id);
  return row;
}

/** The agent's row is held to the end of the transaction: changes to one agent's environments take turns. */
async function held(trx: OrganisationTransaction, scope: Scope, ref: string): Promise<AgentRow> {
  const agent = await findAgentForUpdate(trx, scope, ref);
  if (!agent) throw notFound("agent", ref);
  return agent;
}

/** The label's first use makes the version. A changed draft under a used label is more likely a mistake than a wish. */
async function versionFor(
  trx: OrganisationTransaction,
  agent: AgentRow,
  { version: label, redeploy }: { readonly version: string; readonly redeploy: boolean },
  createdBy: string,
): Promise<void> {
  const { definition } = storedDefinition(agent);
  const key = keyOf(agent);
  const known = await findVersion(trx, key, label);
  const checksum = checksumOf(definition);
  if (!known && redeploy) throw notFound("version", label);
  if (!known) return void (await insertVersion(trx, key, { label, definition, checksum, createdBy }));
  if (redeploy || known.checksum.equals(checksum)) return;
  const { fields, text } = differingFields(definitionOf(known), definition);
  throw new ApiError(
    "conflict",
    `The version ${label} exists, and the draft differs from it in ${text}. Choose a new label, or deploy the version as it is with "redeploy": true.`,
    { details: fields.map((field) => ({ field, error: `Differs from version ${label}` })) },
  );
}

/** Changes to deployments of one organisation at a time in one process: more would only wait for rows, with a connection each. */
const mostWaiting = 200;

export const deploymentHandlers = ({ db, agents, engine }: DeploymentDeps) => {
  const takeTurn = createTurns(mostWaiting);
  const onDeployment = (
    { scope, change }: RequestContext,
    params: DeploymentRef,
    work: (trx: OrganisationTransaction, agent: AgentKey, row: queries.DeploymentRow) => Promise<queries.DeploymentRow>,
  ) =>
    takeTurn(scope.organisationId, async () => {
      const answer = await change(async (trx) => {
        const agent = keyOf(await held(trx, scope, params.agent_id));
        return single(toDeployment(await work(trx, agent, await found(trx, agent, params))));
      });
      engine.dispatchDeliveries();
      return answer;
    });

  const readable = async <T>(
    context: RequestContext,
    ref: string,
    work: (trx: OrganisationTransaction, agent: AgentKey) => Promise<T>,
  ) => {
    const agent = keyOf(await agents.get(context, ref));
    return db.inOrganisation(agent.organisationId, (trx) => work(trx, agent));
  };

  return {
    "POST /v1/agents/{agent_id}/deployments": ({ params, body }, { caller, scope, change }) =>
      takeTurn(scope.organisationId, () =>
        change(async (trx) => {
          const agent = await held(trx, scope, params.agent_id);
          await versionFor(trx, agent, body, caller.keyId);
          const row = await queries.insertPending(trx, keyOf(agent), {
            id: newUuid(),
            environment: body.environment,
            version: body.version,
            trafficPercent: body.traffic_percent,
            guards: body.guards ?? null,
            createdBy: caller.keyId,
          });
          // Asked before the commit, so that none is pending for ever; the workflow waits until it can see the row. In the order of
          // creation too, since the agent's row is held.
          await engine.activate({ ...keyOf(agent), id: row.id, environment: row.environment });
          return single(toDeployment(row));
        }),
      ),

    "GET /v1/agents/{agent_id}/deployments": ({ params, query }, context) =>
      readable(context, params.agent_id, async (trx, agent) => {
        const rows = await queries.listDeployments(trx, agent, query, query);
        return page(rows.map(toDeployment), query, await queries.countDeployments(trx, agent, query));
      }),

    "GET /v1/agents/{agent_id}/deployments/{deployment_id}": ({ params }, context) =>
      readable(context, params.agent_id, async (trx, agent) => single(toDeployment(await found(trx, agent, params)))),

    "PATCH /v1/agents/{agent_id}/deployments/{deployment_id}": ({ params, body }, context) =>
      onDeployment(context, params, (trx, agent, row) => environment.adjust(trx, agent, row, body.traffic_percent)),

    "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote": ({ params }, context) =>
      onDeployment(context, params, environment.promote),

    "POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort": ({ params }, context) =>
      onDeployment(context, params, (trx, agent, row) => environment.abort(trx, agent, row)),

    "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback": ({ params }, context) =>
      onDeployment(context, params, (trx, agent, row) => environment.rollBack(trx, agent, row, context.caller.keyId)),
  } satisfies Handlers<DeploymentOperationKey>;
};
