import type { EmbedderSettings, InputOf, MemoryOperationKey, Operations } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { notFound } from "../../platform/api-error.ts";
import { newUuid, parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { storableTime } from "../../platform/storable-text.ts";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import type { EngineTasks } from "../engine-tasks/engine-tasks.ts";
import { cappedPage, maxCounted, page, single } from "../envelopes.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import type { Quotas } from "../quotas/quotas.ts";
import type { ClearOperationKey } from "./clear-handlers.ts";
import { hasOpenClear } from "./clear-queries.ts";
import { type EmbedText, embedderOf } from "./embed-text.ts";
import { countUnembedded } from "./embedding-queries.ts";
import * as queries from "./memory-queries.ts";
import { embedderName, maxMemories, requestedOwner, searchCandidates, sharedOwner } from "./memory-rules.ts";
import type { SearchMemory } from "./search-memory.ts";
import { toMemory } from "./to-memory.ts";

interface MemoryDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly engineTasks: Pick<EngineTasks, "change">;
  readonly quotas: Pick<Quotas, "requireSpace">;
  readonly embedText: EmbedText;
  readonly searchMemory: SearchMemory;
  readonly logger: Logger;
}

type SearchBody = InputOf<Operations["POST /v1/agents/{agent_id}/memory/search"]>["body"];

const toSearch = (
  owner: string | undefined,
  { query, limit, offset, mode, session_id, start_time, end_time, metadata }: SearchBody,
) => ({
  query,
  candidates: searchCandidates,
  limit,
  offset,
  mode,
  ...(owner !== undefined && { owners: [owner] }),
  ...(session_id !== undefined && { session_id }),
  ...(start_time !== undefined && { from: storableTime(start_time) }),
  ...(end_time !== undefined && { until: storableTime(end_time) }),
  ...(metadata && { metadata }),
});

type AddBody = InputOf<Operations["POST /v1/agents/{agent_id}/memory"]>["body"];

const toNewMemory = (owner = sharedOwner, { content, session_id, metadata }: AddBody): queries.NewMemory => ({
  id: newUuid(),
  owner,
  session_id: session_id ?? null,
  source_id: null,
  content,
  metadata,
});

interface MemoryAgent extends AgentKey {
  readonly embedder: EmbedderSettings;
}

const resolveAgent = async (agents: AgentDirectory, context: RequestContext, ref: string): Promise<MemoryAgent> => {
  const agent = await agents.get(context, ref);
  return { organisationId: agent.organisation_id, agentId: agent.id, embedder: embedderOf(agent) };
};

/** A memory added through the API is searchable by meaning at once, unless its embedder is unavailable. */
const tryEmbed = async (
  { embedText, logger }: Pick<MemoryDeps, "embedText" | "logger">,
  { organisationId, embedder }: MemoryAgent,
  content: string,
  signal: AbortSignal,
) => {
  try {
    return await embedText(organisationId, embedder, content, signal);
  } catch (error) {
    logger.debug({ err: error }, "memory embedding failed, will retry in the background");
    return undefined;
  }
};

export const memoryHandlers = (deps: MemoryDeps) => {
  const { db, agents, engineTasks, quotas, searchMemory } = deps;

  return {
    "POST /v1/agents/{agent_id}/memory/search": async ({ params, body }, context) => {
      const agent = await resolveAgent(agents, context, params.agent_id);
      const { limit, offset } = body;
      const search = toSearch(requestedOwner(context.scope, body.user_id), body);
      const result = await searchMemory(agent, { ...search, embedder: agent.embedder, signal: context.signal });
      const data = result.found.map(({ row, score, score_parts }) => ({ ...toMemory(row), score, score_parts }));
      const { mode, exact, notice } = result;
      return { ...page(data, { limit, offset }, result.total), search: { mode, exact, notice } };
    },

    "POST /v1/agents/{agent_id}/memory": async ({ params, body }, context) => {
      const agent = await resolveAgent(agents, context, params.agent_id);
      const added = toNewMemory(requestedOwner(context.scope, body.user_id), body);
      quotas.requireSpace(context.caller.organisation, ["memoryBytes"]);
      const vector = await tryEmbed(deps, agent, body.content, context.signal);
      const memory = { ...added, ...vector };
      return engineTasks.change(context.change, async (trx, add) => {
        const [id] = await queries.insertMemories(trx, agent, [memory]);
        const row = id === undefined ? undefined : await queries.findMemory(trx, agent, id);
        if (!row) throw notFound("agent", params.agent_id);
        if (!vector) await add({ kind: "embed_memory", id: newUuid(), ...agent });
        return single(toMemory(row));
      });
    },

    "GET /v1/agents/{agent_id}/memory": async ({ params, query }, context) => {
      const agent = await resolveAgent(agents, context, params.agent_id);
      const filter = { owner: requestedOwner(context.scope, query.user_id), sessionId: query.session_id };
      return db.inOrganisation(agent.organisationId, async (trx) => {
        const rows = await queries.listMemories(trx, agent, filter, query);
        const counted = await queries.countMemories(trx, agent, filter, maxCounted + 1);
        return cappedPage(rows.map(toMemory), query, counted);
      });
    },

    "GET /v1/agents/{agent_id}/memory/status": async ({ params }, context) => {
      const agent = await resolveAgent(agents, context, params.agent_id);
      const { embedder } = agent;
      return db.inOrganisation(agent.organisationId, async (trx) =>
        single({
          memories: await queries.countStoredMemories(trx, agent),
          max_memories: maxMemories[context.caller.organisation.tier],
          embedder,
          pending_embeddings: await countUnembedded(trx, agent, embedderName(embedder), maxCounted),
          clearing: await hasOpenClear(trx, agent),
        }),
      );
    },

    "GET /v1/agents/{agent_id}/memory/{memory_id}": async ({ params }, context) => {
      const agent = await resolveAgent(agents, context, params.agent_id);
      const id = parsePublicId("memory", params.memory_id);
      const visible = { ...agent, owner: requestedOwner(context.scope) };
      const row = id && (await db.inOrganisation(agent.organisationId, (trx) => queries.findMemory(trx, visible, id)));
      if (!row) throw notFound("memory", params.memory_id);
      return single(toMemory(row));
    },

    "DELETE /v1/agents/{agent_id}/memory/{memory_id}": async ({ params }, context) => {
      const agent = await resolveAgent(agents, context, params.agent_id);
      const id = parsePublicId("memory", params.memory_id);
      const visible = { ...agent, owner: requestedOwner(context.scope) };
      return context.change(async (trx) => {
        if (!id || !(await queries.findMemory(trx, visible, id)) || !(await queries.deleteMemory(trx, agent, id)))
          throw notFound("memory", params.memory_id);
        return single({ id: toPublicId("memory", id), deleted: true as const });
      });
    },
  } satisfies Handlers<Exclude<MemoryOperationKey, ClearOperationKey>>;
};
