import { agentDefaults, type EmbedderSettings, type MemoryOperationKey } from "@perch/contract";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import type { Database } from "../db/database.ts";
import type { Engine } from "../engine/engine.ts";
import { type Handlers, Reply, type RequestContext } from "../handlers.ts";
import { notFound } from "../platform/api-error.ts";
import { page, single } from "../platform/envelopes.ts";
import { newUuid, parsePublicId, toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import { storableTime } from "../platform/storable-text.ts";
import type { FindEmbedder } from "../providers/find-embedder.ts";
import type { ClearForAWhile } from "./clear-memory.ts";
import { beginClear, findClear, isClearing } from "./clear-queries.ts";
import { countUnembedded } from "./embedding-queries.ts";
import * as queries from "./memory-queries.ts";
import { embedderName, type MemoryPlace, mostMemories, ofEverybody, ofUser } from "./memory-rules.ts";
import { type SearchMemory, toVector } from "./search-memory.ts";
import { toClear, toMemory } from "./to-memory.ts";

interface MemoryDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly engine: Pick<Engine, "embedMemory" | "clearMemory">;
  readonly findEmbedder: FindEmbedder;
  readonly searchMemory: SearchMemory;
  readonly clearForAWhile: ClearForAWhile;
  readonly logger: Logger;
}

const mostCounted = 10_000;
const embedMs = 5000;
/** A clear that takes longer goes on in the background. */
const clearMs = 1000;

const owner = (userId: string | undefined): string | undefined => (userId === undefined ? undefined : ofUser(userId));

export const memoryHandlers = (deps: MemoryDeps) => {
  const { db, agents, engine, findEmbedder, searchMemory, clearForAWhile, logger } = deps;

  const placeOf = async (
    context: RequestContext,
    ref: string,
  ): Promise<MemoryPlace & { readonly embedder: EmbedderSettings }> => {
    const agent = await agents.get(context, ref);
    const { memory } = storedDefinition(agent).definition;
    const embedder = memory.embedder ?? agentDefaults.memory.embedder;
    return { organisationId: agent.organisation_id, agentId: agent.id, embedder };
  };

  /** What is added by hand can be found by meaning at once, unless the embedder is away. */
  const embedded = async ({ organisationId, embedder }: Awaited<ReturnType<typeof placeOf>>, content: string) => {
    try {
      const { embed } = await findEmbedder(organisationId, embedder);
      const [vector] = await embed([content], AbortSignal.timeout(embedMs));
      const { dimensions } = embedder;
      return { embedder: embedderName(embedder), dimensions, embedding: toVector(vector ?? []) };
    } catch (error) {
      logger.debug({ err: error }, "a memory could not be embedded at once");
      return undefined;
    }
  };

  /** Nothing is lost where the engine does not hear it: the next memory, or the housekeeping, says it again. */
  const inBackground = (asked: Promise<void>): void =>
    void asked.catch((error: unknown) => logger.warn({ err: error }, "the engine was not told of work on a memory"));

  return {
    "POST /v1/agents/{agent_id}/memory/search": async ({ params, body }, context) => {
      const place = await placeOf(context, params.agent_id);
      const { query, limit, mode, user_id, session_id, start_time, end_time, metadata } = body;
      const answer = await searchMemory(place, {
        query,
        limit,
        mode,
        embedder: place.embedder,
        ...(user_id !== undefined && { owners: [ofUser(user_id)] }),
        ...(session_id !== undefined && { session_id }),
        ...(start_time !== undefined && { from: storableTime(start_time) }),
        ...(end_time !== undefined && { until: storableTime(end_time) }),
        ...(metadata && { metadata }),
      });
      const data = answer.hits.map(({ row, score, score_parts }) => ({ ...toMemory(row), score, score_parts }));
      const { mode: searched, exact, notice } = answer;
      return { ...page(data, { limit, offset: 0 }, data.length), search: { mode: searched, exact, notice } };
    },

    "POST /v1/agents/{agent_id}/memory": async ({ params, body }, context) => {
      const place = await placeOf(context, params.agent_id);
      const { content } = body;
      const vector = await embedded(place, content);
      const memory: queries.NewMemory = {
        id: newUuid(),
        owner: owner(body.user_id) ?? ofEverybody,
        session_id: body.session_id ?? null,
        source_id: null,
        content,
        metadata: body.metadata,
        ...vector,
      };
      const answer = await context.change(async (trx) => {
        const [id] = await queries.addMemories(trx, place, [memory], mostMemories);
        const row = id === undefined ? undefined : await queries.findMemory(trx, place, id);
        if (!row) throw notFound("agent", params.agent_id);
        return single(toMemory(row));
      });
      if (!vector) inBackground(engine.embedMemory(place));
      return answer;
    },

    "GET /v1/agents/{agent_id}/memory": async ({ params, query }, context) => {
      const place = await placeOf(context, params.agent_id);
      const filter = { owner: owner(query.user_id), sessionId: query.session_id };
      return db.inOrganisation(place.organisationId, async (trx) => {
        // One more than asked for: whether there is another page is then known.
        const found = await queries.listMemories(trx, place, filter, { ...query, limit: query.limit + 1 });
        const total = await queries.countMemories(trx, place, filter, mostCounted + 1);
        const { data, pagination } = page(
          found.slice(0, query.limit).map(toMemory),
          query,
          Math.min(total, mostCounted),
        );
        const total_relation = total > mostCounted ? ("gte" as const) : ("eq" as const);
        return { data, pagination: { ...pagination, has_more: found.length > query.limit, total_relation } };
      });
    },

    "GET /v1/agents/{agent_id}/memory/status": async ({ params }, context) => {
      const place = await placeOf(context, params.agent_id);
      const { embedder } = place;
      return db.inOrganisation(place.organisationId, async (trx) =>
        single({
          memories: await queries.countStored(trx, place),
          most_memories: mostMemories[context.caller.organisation.tier],
          embedder,
          waiting: await countUnembedded(trx, place, embedderName(embedder), mostCounted),
          clearing: await isClearing(trx, place),
        }),
      );
    },

    "GET /v1/agents/{agent_id}/memory/{memory_id}": async ({ params }, context) => {
      const place = await placeOf(context, params.agent_id);
      const id = parsePublicId("memory", params.memory_id);
      const row = id && (await db.inOrganisation(place.organisationId, (trx) => queries.findMemory(trx, place, id)));
      if (!row) throw notFound("memory", params.memory_id);
      return single(toMemory(row));
    },

    "DELETE /v1/agents/{agent_id}/memory/{memory_id}": async ({ params }, context) => {
      const place = await placeOf(context, params.agent_id);
      const id = parsePublicId("memory", params.memory_id);
      return context.change(async (trx) => {
        if (!id || !(await queries.findMemory(trx, place, id)) || !(await queries.deleteMemory(trx, place, id)))
          throw notFound("memory", params.memory_id);
        return single({ id: toPublicId("memory", id), deleted: true as const });
      });
    },

    "DELETE /v1/agents/{agent_id}/memory": async ({ params, query }, context) => {
      const { organisationId, agentId } = await placeOf(context, params.agent_id);
      const clear = { organisationId, agentId, id: newUuid() };
      const { user_id, session_id: sessionId } = query;
      const before = query.before && storableTime(query.before);
      const begun = await context.change(async (trx) =>
        single(toClear(await beginClear(trx, clear, { owner: owner(user_id), sessionId, before }))),
      );
      const row = await clearForAWhile(clear, clearMs);
      const answer = row ? single(toClear(row)) : begun;
      if (answer.data.status === "completed") return answer;
      inBackground(engine.clearMemory(clear));
      const location = `/v1/agents/${toPublicId("agent", agentId)}/memory/clears/${answer.data.id}`;
      return new Reply(202, { location }, answer);
    },

    "GET /v1/agents/{agent_id}/memory/clears/{clear_id}": async ({ params }, context) => {
      const place = await placeOf(context, params.agent_id);
      const id = parsePublicId("clear", params.clear_id);
      const row = id && (await db.inOrganisation(place.organisationId, (trx) => findClear(trx, place, id)));
      if (!row) throw notFound("clear", params.clear_id);
      return single(toClear(row));
    },
  } satisfies Handlers<MemoryOperationKey>;
};
