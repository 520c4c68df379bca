import { isDeepStrictEqual } from "node:util";
import type { Agent, AgentAuth, AgentOperationKey, AgentStatus, SecuritySettings } from "@perch/contract";
import { sealAuth } from "../../auth/agent-auth.ts";
import type { Caller } from "../../auth/caller.ts";
import { type GracePeriod, gracePeriodOf, newGracePeriod } from "../../auth/grace-period.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { conflict, forbidden, notFound } from "../../platform/api-error.ts";
import { Unchanged } from "../../platform/change-results.ts";
import { newUuid, toPublicId } from "../../platform/ids.ts";
import type { Sealer } from "../../platform/sealing.ts";
import type { AddTask, EngineTasks } from "../engine-tasks/engine-tasks.ts";
import { page, single } from "../envelopes.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import type { Quotas } from "../quotas/quotas.ts";
import type { Transition } from "../transitions.ts";
import type { AgentDirectory } from "./agent-directory.ts";
import * as queries from "./agent-queries.ts";
import { agentTransitions, applyPatch, isSameDefinition, newDefinition } from "./agent-rules.ts";
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
  /** Called in the transaction that resumes a paused agent. */
  readonly onResume: (trx: OrganisationTransaction, agent: AgentKey) => Promise<void>;
  /** Called once the deletion has committed. Does not wait. */
  readonly onDeleted: (agent: AgentKey) => void;
  readonly now: () => Date;
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

/** Warns which requests are refused from now on, and how long the key that set `auth` can undo it. */
function withWarnings(agent: Agent, auth: queries.AuthChange | null | undefined): Agent {
  if (!auth) return agent;
  const { gracePeriod } = auth;
  const takeBack = gracePeriod
    ? `Until ${gracePeriod.until.toISOString()}, the key ${toPublicId("key", gracePeriod.keyId)} can read and update this agent without a token: to take it back, send PATCH with {"auth": null}.`
    : "Changing it again needs such a token, because the agent had `auth` before: try one now.";
  const needed = "From now on, requests to this agent need a user's token in `X-User-Token` as well as an API key.";
  return { ...agent, warnings: [`${needed} ${takeBack}`] };
}

export const agentHandlers = (deps: AgentDeps) => {
  const { db, agents, agentAuth, engineTasks, quotas, onDelete, onDeleted, onResume, now } = deps;

  const toAuthChange = (
    auth: AgentAuth | null | undefined,
    agent: AgentKey,
    caller: Caller,
    before: { readonly hadAuth: boolean; readonly gracePeriod?: GracePeriod | undefined },
  ): queries.AuthChange | null | undefined =>
    auth && { ...sealAuth(agentAuth, auth, agent), gracePeriod: newGracePeriod(caller, before, now()) };

  const lockAgent = async (
    trx: OrganisationTransaction,
    { scope, requireMatch }: RequestContext,
    ref: string,
  ): Promise<queries.AgentRow> => {
    const agent = await queries.findAgentForUpdate(trx, scope, ref);
    if (!agent) throw notFound("agent", ref);
    requireMatch(toAgent(agent));
    return agent;
  };

  const changeStatus = (context: RequestContext, ref: string, transition: Transition<AgentStatus>) =>
    context.change(async (trx) => {
      const { scope } = context;
      const agent = await lockAgent(trx, context, ref);
      if (transition === agentTransitions.resume)
        await onResume(trx, { organisationId: scope.organisationId, agentId: agent.id });
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
      const auth = toAuthChange(body.auth, { organisationId: scope.organisationId, agentId: id }, caller, {
        hadAuth: false,
      });
      return change(async (trx) => {
        await quotas.requireRoom(trx, caller.organisation, "agents");
        const agent = await queries.insertAgent(trx, scope, { id, name, ...stored, auth });
        if (!agent)
          throw conflict(
            `There is an agent called ${JSON.stringify(name)} already. Choose another name, or change that one.`,
          );
        return single(withWarnings(toAgent(agent), auth));
      });
    },

    "GET /v1/agents": ({ query }, { scope }) =>
      db.inOrganisation(scope.organisationId, async (trx) => {
        const agents = await queries.listAgents(trx, scope, query);
        return page(agents.map(toAgentSummary), query, await queries.countAgents(trx, scope));
      }),

    "GET /v1/agents/{agent_id}": ({ params }, context) => {
      const agent = agents.get(context, params.agent_id);
      return agent instanceof Promise ? agent.then(toAgentAnswer) : toAgentAnswer(agent);
    },

    "PATCH /v1/agents/{agent_id}": async ({ params, query, body }, context) => {
      const { caller, scope, change } = context;
      requireManageForSecurity(caller, body);
      if (body.security !== undefined || body.auth !== undefined)
        await context.requireSecondFactor(await agents.get(context, params.agent_id));
      return engineTasks.change(change, async (trx, add) => {
        const agent = await lockAgent(trx, context, params.agent_id);
        const next = applyPatch(storedDefinition(agent), body);
        if (body.security !== undefined) refuseLockOut(context, next.security, query.force);
        // The secrets of a new `auth` are not compared with the stored ones: that would answer guesses.
        const keepsAuth = body.auth === undefined || (body.auth === null && agent.auth === null);
        if (keepsAuth && isSameDefinition(storedDefinition(agent), next)) return new Unchanged(single(toAgent(agent)));
        const agentKey = { organisationId: scope.organisationId, agentId: agent.id };
        const before = { hadAuth: agent.auth !== null, gracePeriod: gracePeriodOf(agent) };
        const auth = toAuthChange(body.auth, agentKey, caller, before);
        const changed = await queries.updateAgentDefinition(trx, scope, agent.id, next, auth);
        if (!isDeepStrictEqual(next.definition.memory.embedder, toAgent(agent).memory.embedder))
          await add({ kind: "embed_memory", id: newUuid(), ...agentKey });
        return single(withWarnings(toAgent(changed), auth));
      });
    },

    "DELETE /v1/agents/{agent_id}": async ({ params }, context) => {
      let deleted: AgentKey | undefined;
      const answer = await engineTasks.change(context.change, async (trx, add) => {
        const { scope } = context;
        const agent = await lockAgent(trx, context, params.agent_id);
        deleted = { organisationId: scope.organisationId, agentId: agent.id };
        await queries.deleteAgent(trx, scope, agent.id);
        await onDelete(trx, deleted, add);
        return single({ id: toPublicId("agent", agent.id), deleted: true as const });
      });
      if (deleted) onDeleted(deleted);
      return answer;
    },

    "POST /v1/agents/{agent_id}/pause": ({ params }, context) =>
      changeStatus(context, params.agent_id, agentTransitions.pause),

    "POST /v1/agents/{agent_id}/resume": ({ params }, context) =>
      changeStatus(context, params.agent_id, agentTransitions.resume),
  } satisfies Handlers<AgentOperationKey>;
};
