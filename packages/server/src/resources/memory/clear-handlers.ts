import type { MemoryOperationKey } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { notFound } from "../../platform/api-error.ts";
import { newUuid, parsePublicId, toPublicId } from "../../platform/ids.ts";
import { storableTime } from "../../platform/storable-text.ts";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import type { EngineTasks } from "../engine-tasks/engine-tasks.ts";
import { single } from "../envelopes.ts";
import { type Handlers, Reply, type RequestContext } from "../handlers.ts";
import { findClear, insertClear } from "./clear-queries.ts";
import { requestedOwner } from "./memory-rules.ts";
import type { RunClear } from "./run-clear.ts";
import { toClear } from "./to-memory.ts";

interface ClearDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly engineTasks: EngineTasks;
  readonly runClear: RunClear;
}

export type ClearOperationKey = Extract<
  MemoryOperationKey,
  "DELETE /v1/agents/{agent_id}/memory" | "GET /v1/agents/{agent_id}/memory/clears/{clear_id}"
>;

/** A clear that takes longer than this continues in the background. */
const inlineClearMs = 1000;

export const clearHandlers = ({ db, agents, engineTasks, runClear }: ClearDeps) => {
  const resolveAgent = async (context: RequestContext, ref: string) => {
    const { organisation_id: organisationId, id: agentId } = await agents.get(context, ref);
    return { organisationId, agentId };
  };

  return {
    "DELETE /v1/agents/{agent_id}/memory": async ({ params, query }, context) => {
      const agent = await resolveAgent(context, params.agent_id);
      const clear = { ...agent, id: newUuid() };
      const { session_id: sessionId } = query;
      const owner = requestedOwner(context.scope, query.user_id);
      const before = query.before && storableTime(query.before);
      const task = { kind: "clear_memory" as const, ...clear };
      const started = await context.change(async (trx) => {
        const row = await insertClear(trx, clear, { owner, sessionId, before });
        await engineTasks.add(trx, task);
        return single(toClear(row));
      });
      const row = await runClear(clear, inlineClearMs);
      const result = row ? single(toClear(row)) : started;
      if (result.data.status === "completed") {
        engineTasks.discard(task);
        return result;
      }
      engineTasks.send(task);
      const location = `/v1/agents/${toPublicId("agent", agent.agentId)}/memory/clears/${result.data.id}`;
      return new Reply(202, { location }, result);
    },

    "GET /v1/agents/{agent_id}/memory/clears/{clear_id}": async ({ params }, context) => {
      const agent = await resolveAgent(context, params.agent_id);
      const id = parsePublicId("clear", params.clear_id);
      const row = id && (await db.inOrganisation(agent.organisationId, (trx) => findClear(trx, agent, id)));
      const owner = requestedOwner(context.scope);
      if (!row || (owner !== undefined && row.owner !== owner)) throw notFound("clear", params.clear_id);
      return single(toClear(row));
    },
  } satisfies Handlers<ClearOperationKey>;
};
