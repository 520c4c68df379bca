import { isDeepStrictEqual } from "node:util";
import type { AgentOperationKey, AgentStatus } from "@perch/contract";
import type { Database } from "../db/database.ts";
import type { Engine } from "../engine/engine.ts";
import type { Caller, Handlers, RequestContext } from "../handlers.ts";
import { revokeKeysOfAgent } from "../keys/key-queries.ts";
import { beginClear } from "../memory/clear-queries.ts";
import { conflict, forbidden, notFound } from "../platform/api-error.ts";
import { page, single } from "../platform/envelopes.ts";
import { newUuid, toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import { deleteWebhooksOfAgent } from "../webhooks/webhook-queries.ts";
import type { AgentDirectory } from "./agent-directory.ts";
import * as queries from "./agent-queries.ts";
import { agentTransitions, applyPatch, newDefinition } from "./agent-rules.ts";
import { storedDefinition, toAgent, toAgentSummary } from "./to-agent.ts";

interface AgentDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly engine: Pick<Engine, "embedMemory" | "clearMemory">;
  readonly logger: Logger;
}

function mayChangeSecurity({ permissions }: Caller, patch: { readonly security?: unknown }): void {
  if (patch.security !== undefined && !permissions.has("manage")) {
    throw forbidden("Changing `security` needs a key with the permission manage.");
  }
}

export const agentHandlers = ({ db, agents, engine, logger }: AgentDeps) => {
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
    "POST /v1/agents": async ({ body }, { caller, scope, change }) => {
      if (caller.agentId !== null)
        throw forbidden("This key belongs to one agent. Create agents with an organisation's key.");
      mayChangeSecurity(caller, body);
      const { name, ...patch } = body;
      const stored = newDefinition(patch);
      return change(async (trx) => {
        const agent = await queries.insertAgent(trx, scope, { id: newUuid(), name, ...stored });
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

    "PATCH /v1/agents/{agent_id}": async ({ params, body }, { caller, scope, change }) => {
      mayChangeSecurity(caller, body);
      return change(async (trx) => {
        const agent = await queries.findAgentForUpdate(trx, scope, params.agent_id);
        if (!agent) throw notFound("agent", params.agent_id);
        const next = applyPatch(storedDefinition(agent), body);
        const changed = await queries.updateAgentDefinition(trx, scope, agent.id, next);
        if (!isDeepStrictEqual(next.definition.memory.embedder, toAgent(agent).memory.embedder))
          await engine.embedMemory({ organisationId: scope.organisationId, agentId: agent.id });
        return single(toAgent(changed));
      });
    },

    "DELETE /v1/agents/{agent_id}": async ({ params }, { scope, change }) => {
      const id = newUuid();
      const { agentId, answer } = await change(async (trx) => {
        const agent = await queries.findAgentForUpdate(trx, scope, params.agent_id);
        if (!agent) throw notFound("agent", params.agent_id);
        await queries.deleteAgent(trx, scope, agent.id);
        await revokeKeysOfAgent(trx, scope, agent.id);
        await deleteWebhooksOfAgent(trx, scope, agent.id);
        // From here on nothing is remembered, and all that was is out of sight.
        await beginClear(trx, { organisationId: scope.organisationId, agentId: agent.id, id });
        const answer = single({ id: toPublicId("agent", agent.id), deleted: true as const });
        return { agentId: agent.id, answer };
      });
      // Nobody waits for it. Where the engine does not hear it, the housekeeping removes what is left.
      void engine
        .clearMemory({ organisationId: scope.organisationId, agentId, id })
        .catch((error: unknown) =>
          logger.warn({ err: error }, "the engine was not told to clear a deleted agent's memory"),
        );
      return answer;
    },

    "POST /v1/agents/{agent_id}/pause": ({ params }, context) =>
      transition(context, params.agent_id, agentTransitions.pause),

    "POST /v1/agents/{agent_id}/resume": ({ params }, context) =>
      transition(context, params.agent_id, agentTransitions.resume),
  } satisfies Handlers<AgentOperationKey>;
};
