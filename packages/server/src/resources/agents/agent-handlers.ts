import { isDeepStrictEqual } from "node:util";
import type { AgentAuth, AgentOperationKey, AgentStatus, SecuritySettings } from "@perch/contract";
import { type StoredAuth, sealAuth } from "../../auth/agent-auth.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { conflict, forbidden, notFound } from "../../platform/api-error.ts";
import { page, single } from "../../platform/envelopes.ts";
import { newUuid, toPublicId } from "../../platform/ids.ts";
import type { Sealer } from "../../platform/secrets.ts";
import type { Transition } from "../../platform/transitions.ts";
import type { AddTask, EngineTasks } from "../engine-tasks/engine-tasks.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import type { Quotas } from "../quotas/quotas.ts";
import type { AgentDirectory } from "./agent-directory.ts";
import * as queries from "./agent-queries.ts";
import { agentTransitions, applyPatch, newDefinition } from "./agent-rules.ts";
import { storedDefinition, toAgent, toAgentAnswer, toAgentSummary } from "./to-agent.ts";

/** Runs in the transaction that deletes an agent. */
export type OnAgentDelete = (trx: OrganisationTransaction, agent: AgentKey, add: AddTask) => Promise<void>;

interface AgentDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly engineTasks: EngineTasks;
  readonly quotas: Quotas;
  readonly agentAuth: Sealer;
  readonly onDelete: OnAgentDelete;
}

function requireManageForSecurity(
  { permissions }: Caller,
  patch: { readonly security?: unknown; readonly auth?: unknown },
): void {
  if ((patch.security !== undefined || patch.auth !== undefined) && !permissions.has("manage")) {
    throw forbidden("Changing `security` or `auth` needs a key with the permission manage.");
  }
}

/** Keeps callers from locking themselves out by mistake. */
function refuseLockOut({ wouldRefuse }: RequestContext, security: SecuritySettings, force: boolean): void {
  if (!force && wouldRefuse(security))
    throw conflict(
      "These settings would refuse this very request. Send it from a client that they allow, or add ?force=true.",
    );
}

export const agentHandlers = ({ db, agents, agentAuth, engineTasks, quotas, onDelete }: AgentDeps) => {
  const toStoredAuth = (auth: AgentAuth | null | undefined, agent: AgentKey): StoredAuth | null | undefined =>
    auth && sealAuth(agentAuth, auth, agent);

  const changeStatus = ({ scope, change }: RequestContext, ref: string, transition: Transition<AgentStatus>) =>
    change(async (trx) => {
      const agent = await queries.findAgentForUpdate(trx, scope, ref);
      if (!agent) throw notFound("agent", ref);
      return single(toAgent((await queries.updateAgentStatus(trx, scope, agent.id, transition)) ?? agent));
    });

  return {
    "POST /v1/agents": async ({ query, body }, context) => {
      const { caller, scope, change } = context;
      if (caller.onlyAgentId !== null)
        throw forbidden("This key belongs to one agent. Create agents with an organisation's key.");
      requireManageForSecurity(caller, body);
      const { name, ...patch } = body;
      const stored = newDefinition(patch);
      if (body.security !== undefined) refuseLockOut(context, stored.security, query.force);
      const id = newUuid();
      const auth = toStoredAuth(body.auth, { organisationId: scope.organisationId, agentId: id });
      return change(async (trx) => {
        await quotas.requireRoom(trx, caller.organisation, "agents");
        const agent = await queries.insertAgent(trx, scope, { id, name, ...stored, auth });
        if (!agent)
          throw conflict(
            `There is an agent called ${JSON.stringify(name)} already. Choose another name, or change that one.`,
          );
        return single(toAgent(agent));
      });
    },

    "GET /v1/agents": ({ query }, { scope }) =>
      db.inOrganisation(scope.organisationId, async (trx) => {
        const agents = await queries.listAgents(trx, scope, query);
        return page(agents.map(toAgentSummary), query, await queries.countAgents(trx, scope));
      }),

    "GET /v1/agents/{agent_id}": async ({ params }, context) =>
      toAgentAnswer(await agents.get(context, params.agent_id)),

    "PATCH /v1/agents/{agent_id}": async ({ params, query, body }, context) => {
      const { caller, scope, change } = context;
      requireManageForSecurity(caller, body);
      if (body.security !== undefined || body.auth !== undefined)
        await context.requireSecondFactor(await agents.get(context, params.agent_id));
      return engineTasks.change(change, async (trx, add) => {
        const agent = await queries.findAgentForUpdate(trx, scope, params.agent_id);
        if (!agent) throw notFound("agent", params.agent_id);
        const next = applyPatch(storedDefinition(agent), body);
        if (body.security !== undefined) refuseLockOut(context, next.security, query.force);
        const agentKey = { organisationId: scope.organisationId, agentId: agent.id };
        const auth = toStoredAuth(body.auth, agentKey);
        const changed = await queries.updateAgentDefinition(trx, scope, agent.id, next, auth);
        if (!isDeepStrictEqual(next.definition.memory.embedder, toAgent(agent).memory.embedder))
          await add({ kind: "embed_memory", id: newUuid(), ...agentKey });
        return single(toAgent(changed));
      });
    },

    "DELETE /v1/agents/{agent_id}": ({ params }, { scope, change }) =>
      engineTasks.change(change, async (trx, add) => {
        const agent = await queries.findAgentForUpdate(trx, scope, params.agent_id);
        if (!agent) throw notFound("agent", params.agent_id);
        await queries.deleteAgent(trx, scope, agent.id);
        await onDelete(trx, { organisationId: scope.organisationId, agentId: agent.id }, add);
        return single({ id: toPublicId("agent", agent.id), deleted: true as const });
      }),

    "POST /v1/agents/{agent_id}/pause": ({ params }, context) =>
      changeStatus(context, params.agent_id, agentTransitions.pause),

    "POST /v1/agents/{agent_id}/resume": ({ params }, context) =>
      changeStatus(context, params.agent_id, agentTransitions.resume),
  } satisfies Handlers<AgentOperationKey>;
};
