import { isDeepStrictEqual } from "node:util";
import type { AgentAuth, AgentOperationKey, AgentStatus, SecuritySettings } from "@perch/contract";
import type { Database } from "../db/database.ts";
import type { Engine } from "../engine/engine.ts";
import type { Caller, Handlers, RequestContext } from "../handlers.ts";
import { updateAgentKeysRevokedAt } from "../keys/key-queries.ts";
import { type ClearRow, insertClear } from "../memory/clear-queries.ts";
import { conflict, forbidden, notFound } from "../platform/api-error.ts";
import { page, single } from "../platform/envelopes.ts";
import { newUuid, toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import type { Sealer } from "../platform/secrets.ts";
import { type StoredAuth, sealAuth } from "../security/agent-auth.ts";
import { deleteWebhooksOfAgent } from "../webhooks/webhook-queries.ts";
import type { AgentDirectory } from "./agent-directory.ts";
import type { AgentKey } from "./agent-key.ts";
import * as queries from "./agent-queries.ts";
import { agentTransitions, applyPatch, newDefinition } from "./agent-rules.ts";
import { storedDefinition, toAgent, toAgentSummary } from "./to-agent.ts";

interface AgentDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly engine: Pick<Engine, "embedMemory" | "clearMemory">;
  readonly logger: Logger;
  readonly agentAuth: Sealer;
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

export const agentHandlers = ({ db, agents, agentAuth, engine, logger }: AgentDeps) => {
  const toStoredAuth = (auth: AgentAuth | null | undefined, agent: AgentKey): StoredAuth | null | undefined =>
    auth && sealAuth(agentAuth, auth, agent);

  /** Does not wait. If the engine cannot be reached, housekeeping deletes the rows later. */
  const startClear = ({ organisation_id: organisationId, agent_id: agentId, id }: ClearRow): void => {
    engine
      .clearMemory({ organisationId, agentId, id })
      .catch((error: unknown) =>
        logger.warn(
          { err: error, agentId, clearId: id },
          "memory clear of deleted agent not started, left to housekeeping",
        ),
      );
  };

  const transition = (
    { scope, change }: RequestContext,
    ref: string,
    { from, to }: { from: AgentStatus; to: AgentStatus },
  ) =>
    change(async (trx) => {
      const agent = await queries.findAgentForUpdate(trx, scope, ref);
      if (!agent) throw notFound("agent", ref);
      return single(toAgent(agent.status === from ? await queries.updateAgentStatus(trx, scope, agent.id, to) : agent));
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
      single(toAgent(await agents.get(context, params.agent_id))),

    "PATCH /v1/agents/{agent_id}": async ({ params, query, body }, context) => {
      const { caller, scope, change } = context;
      requireManageForSecurity(caller, body);
      if (body.security !== undefined || body.auth !== undefined)
        await context.requireSecondFactor(await agents.get(context, params.agent_id));
      return change(async (trx) => {
        const agent = await queries.findAgentForUpdate(trx, scope, params.agent_id);
        if (!agent) throw notFound("agent", params.agent_id);
        const next = applyPatch(storedDefinition(agent), body);
        if (body.security !== undefined) refuseLockOut(context, next.security, query.force);
        const agentKey = { organisationId: scope.organisationId, agentId: agent.id };
        const auth = toStoredAuth(body.auth, agentKey);
        const changed = await queries.updateAgentDefinition(trx, scope, agent.id, next, auth);
        if (!isDeepStrictEqual(next.definition.memory.embedder, toAgent(agent).memory.embedder))
          await engine.embedMemory(agentKey);
        return single(toAgent(changed));
      });
    },

    "DELETE /v1/agents/{agent_id}": async ({ params }, { scope, change }) => {
      const inserted: { clear?: ClearRow } = {};
      const response = await change(async (trx) => {
        const agent = await queries.findAgentForUpdate(trx, scope, params.agent_id);
        if (!agent) throw notFound("agent", params.agent_id);
        await queries.deleteAgent(trx, scope, agent.id);
        await updateAgentKeysRevokedAt(trx, scope, agent.id);
        await deleteWebhooksOfAgent(trx, scope, agent.id);
        // Hides the agent's memory at once; the rows are deleted in the background.
        inserted.clear = await insertClear(trx, {
          organisationId: scope.organisationId,
          agentId: agent.id,
          id: newUuid(),
        });
        return single({ id: toPublicId("agent", agent.id), deleted: true as const });
      });
      if (inserted.clear) startClear(inserted.clear);
      return response;
    },

    "POST /v1/agents/{agent_id}/pause": ({ params }, context) =>
      transition(context, params.agent_id, agentTransitions.pause),

    "POST /v1/agents/{agent_id}/resume": ({ params }, context) =>
      transition(context, params.agent_id, agentTransitions.resume),
  } satisfies Handlers<AgentOperationKey>;
};
