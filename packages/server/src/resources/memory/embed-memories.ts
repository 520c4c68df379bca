import type { EmbedderSettings } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { isDataRefused } from "../../db/refused-data.ts";
import { PermanentModelError, TransientModelError } from "../../outbound/models/model.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { findAgent } from "../agents/agent-queries.ts";
import type { FindEmbedder } from "../providers/find-embedder.ts";
import { embedderOf, toVector } from "./embed-text.ts";
import { listUnembedded, updateEmbeddings } from "./embedding-queries.ts";
import { embedderName } from "./memory-rules.ts";

interface EmbedMemoriesDeps {
  readonly db: Database;
  readonly findEmbedder: FindEmbedder;
  readonly logger: Logger;
  readonly now: () => number;
}

/** `againAfterMs` is null when nothing is left to embed. */
export type EmbedMemories = (agent: AgentKey, failures: number) => Promise<{ readonly againAfterMs: number | null }>;

const batchSize = 64;
/** A step is journaled only when it ends, so it is kept short. */
const stepMs = 5000;
const embedTimeoutMs = 60_000;
const initialBackoffMs = 1000;
const maxBackoffMs = 600_000;
/** A permanent failure needs a person to fix it, such as a wrong key: it is retried, but rarely. */
const permanentFailureRetryMs = 600_000;

/** Undefined when the agent was deleted. */
export async function findEmbedderSettings(
  db: Database,
  { organisationId, agentId }: AgentKey,
): Promise<EmbedderSettings | undefined> {
  const agent = await db.inOrganisation(organisationId, (trx) =>
    findAgent(trx, { organisationId, onlyAgentId: agentId }, toPublicId("agent", agentId)),
  );
  return agent && embedderOf(agent);
}

/** Embeds the memories that have no vector of the agent's current embedder, batch by batch. */
export function createEmbedMemories({ db, findEmbedder, logger, now }: EmbedMemoriesDeps): EmbedMemories {
  /** How many were embedded; undefined if none is left. */
  const embedBatch = async (agent: AgentKey, settings: EmbedderSettings): Promise<number | undefined> => {
    const embedder = embedderName(settings);
    const unembedded = await db.inOrganisation(agent.organisationId, (trx) =>
      listUnembedded(trx, agent, embedder, batchSize),
    );
    if (unembedded.length === 0) return undefined;
    const { embed } = await findEmbedder(agent.organisationId, settings, "background");
    const contents = unembedded.map(({ content }) => content);
    const vectors = await embed(contents, AbortSignal.timeout(embedTimeoutMs));
    const embeddings = unembedded.map(({ id }, i) => ({ id, embedding: toVector(vectors[i] ?? []) }));
    return db.inOrganisation(agent.organisationId, (trx) =>
      updateEmbeddings(trx, agent, { embedder, dimensions: settings.dimensions }, embeddings),
    );
  };

  const retryDelayMs = (error: unknown, failures: number): number => {
    if (error instanceof PermanentModelError || isDataRefused(error)) return permanentFailureRetryMs;
    const backoff = initialBackoffMs * 2 ** failures;
    const requested = error instanceof TransientModelError ? (error.retryAfterMs ?? backoff) : backoff;
    // An embedder may ask for years, and for more than the engine can count.
    return Math.min(requested, maxBackoffMs);
  };

  return async (agent, failures) => {
    const until = now() + stepMs;
    for (;;) {
      const settings = await findEmbedderSettings(db, agent);
      try {
        // A short batch need not be the last: it only has memories of at most two other embedders.
        const embedded = settings && (await embedBatch(agent, settings));
        if (embedded === undefined) return { againAfterMs: null };
        // A clear holds all of them: to embed them again at once would be for nothing.
        if (embedded === 0) return { againAfterMs: initialBackoffMs };
      } catch (error) {
        const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
        const isEmbedders = error instanceof TransientModelError || error instanceof PermanentModelError || isTimeout;
        // Other errors, such as an unavailable database, are retried by the engine.
        if (!isEmbedders && !isDataRefused(error)) throw error;
        const againAfterMs = Math.max(1, retryDelayMs(error, failures));
        logger.warn(
          { err: error, agentId: toPublicId("agent", agent.agentId), failures, againAfterMs },
          "memory embedding failed, will retry",
        );
        return { againAfterMs };
      }
      if (now() >= until) return { againAfterMs: 0 };
    }
  };
}
