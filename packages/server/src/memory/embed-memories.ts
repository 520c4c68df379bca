import { agentDefaults, type EmbedderSettings } from "@perch/contract";
import { findAgent } from "../agents/agent-queries.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import type { Database } from "../db/database.ts";
import { PassingModelError, PermanentModelError } from "../models/model.ts";
import { toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import type { FindEmbedder } from "../providers/find-embedder.ts";
import { listUnembedded, updateEmbeddings } from "./embedding-queries.ts";
import { embedderName, type MemoryPlace } from "./memory-rules.ts";
import { toVector } from "./search-memory.ts";

interface EmbedMemoriesDeps {
  readonly db: Database;
  readonly findEmbedder: FindEmbedder;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Null when there is nothing left to do. */
export type EmbedMemories = (place: MemoryPlace, failures: number) => Promise<{ readonly againAfterMs: number | null }>;

const batch = 64;
/** A step is journaled when it ends: it should end before long. */
const stepMs = 5000;
const embedMs = 60_000;
const firstWaitMs = 1000;
const mostWaitMs = 600_000;
/** What refuses needs somebody to mend it, a key perhaps: it is asked again, but seldom. */
const refusedWaitMs = 600_000;

/** The draft's embedder: memory belongs to the agent and not to a version. Undefined where the agent was deleted. */
export async function findEmbedderSettings(
  db: Database,
  { organisationId, agentId }: MemoryPlace,
): Promise<EmbedderSettings | undefined> {
  const agent = await db.inOrganisation(organisationId, (trx) =>
    findAgent(trx, { organisationId, agentId }, toPublicId("agent", agentId)),
  );
  return agent && (storedDefinition(agent).definition.memory.embedder ?? agentDefaults.memory.embedder);
}

/** Embeds what has no vector of the agent's embedder yet, some of it at a time. */
export function createEmbedMemories({ db, findEmbedder, logger, now }: EmbedMemoriesDeps): EmbedMemories {
  const embedSome = async (place: MemoryPlace, settings: EmbedderSettings): Promise<number> => {
    const embedder = embedderName(settings);
    const waiting = await db.inOrganisation(place.organisationId, (trx) => listUnembedded(trx, place, embedder, batch));
    if (waiting.length === 0) return 0;
    const { embed } = await findEmbedder(place.organisationId, settings);
    const contents = waiting.map(({ content }) => content);
    const vectors = await embed(contents, AbortSignal.timeout(embedMs));
    const embeddings = waiting.map(({ id }, i) => ({ id, embedding: toVector(vectors[i] ?? []) }));
    await db.inOrganisation(place.organisationId, (trx) =>
      updateEmbeddings(trx, place, { embedder, dimensions: settings.dimensions }, embeddings),
    );
    return waiting.length;
  };

  const waitAfter = (error: unknown, failures: number): number => {
    if (error instanceof PermanentModelError) return refusedWaitMs;
    const backoff = Math.min(firstWaitMs * 2 ** failures, mostWaitMs);
    return error instanceof PassingModelError ? (error.retryAfterMs ?? backoff) : backoff;
  };

  return async (place, failures) => {
    const until = now() + stepMs;
    for (;;) {
      const settings = await findEmbedderSettings(db, place);
      try {
        // A batch may be short and not the last: it has memories of two other embedders at most.
        if (!settings || (await embedSome(place, settings)) === 0) return { againAfterMs: null };
      } catch (error) {
        const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
        // A database that does not answer is the engine's to try again.
        if (!(error instanceof PassingModelError || error instanceof PermanentModelError || isTimeout)) throw error;
        logger.warn({ err: error, agentId: toPublicId("agent", place.agentId) }, "memories could not be embedded");
        return { againAfterMs: Math.max(1, waitAfter(error, failures)) };
      }
      if (now() >= until) return { againAfterMs: 0 };
    }
  };
}
