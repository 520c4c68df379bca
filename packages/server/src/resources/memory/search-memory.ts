import type { EmbedderSettings, SearchMode } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { PermanentModelError, TransientModelError } from "../../outbound/models/model.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { ApiError } from "../../platform/api-error.ts";
import type { Logger } from "../../platform/logger.ts";
import type { EmbedText } from "./embed-text.ts";
import { listOtherEmbedders } from "./embedding-queries.ts";
import { type MemoryRow, type SearchParameters, searchMemories } from "./memory-queries.ts";
import {
  candidatesFor,
  embedderName,
  embedderSettings,
  fuseRanks,
  type ScoredCandidate,
  type SearchReport,
  searchTuning,
} from "./memory-rules.ts";

export interface MemorySearchRequest
  extends Pick<SearchParameters, "owners" | "session_id" | "from" | "until" | "metadata"> {
  readonly query: string;
  readonly limit: number;
  readonly mode: SearchMode;
  /** The agent's current embedder. */
  readonly embedder: EmbedderSettings;
}

export interface MemorySearchResult extends SearchReport {
  readonly hits: readonly (ScoredCandidate & { readonly row: MemoryRow })[];
}

export type SearchMemory = (agent: AgentKey, request: MemorySearchRequest) => Promise<MemorySearchResult>;

interface SearchMemoryDeps {
  readonly db: Database;
  readonly embedText: EmbedText;
  readonly logger: Logger;
}

const failureReason = (error: unknown): string =>
  error instanceof TransientModelError || error instanceof PermanentModelError
    ? error.message
    : "It did not answer in time.";

export function createSearchMemory({ db, embedText, logger }: SearchMemoryDeps): SearchMemory {
  /** One vector per embedder in use: there is more than one while memories are being re-embedded. */
  const embedQuery = async (agent: AgentKey, { embedder, query }: MemorySearchRequest) => {
    const notices: string[] = [];
    let isTransient = false;
    const embedWith = async (settings: EmbedderSettings) => {
      try {
        const { embedding: vector, ...by } = await embedText(agent.organisationId, settings, query);
        return [{ ...by, vector }];
      } catch (error) {
        logger.debug({ err: error, embedder: settings.model }, "query embedding failed");
        isTransient ||= !(error instanceof PermanentModelError);
        notices.push(`The embedder ${settings.model} could not be asked: ${failureReason(error)}`);
        return [];
      }
    };
    const current = embedderName(embedder);
    const [currentList, others] = await Promise.all([
      embedWith(embedder),
      db.inOrganisation(agent.organisationId, (trx) => listOtherEmbedders(trx, agent, current)),
    ]);
    const otherLists = await Promise.all(others.map((name) => embedWith(embedderSettings(name))));
    return { lists: [...currentList, ...otherLists.flat()], notices, isTransient };
  };

  return async (agent, request) => {
    const { query, limit, mode, owners, session_id, from, until, metadata } = request;
    const { lists, notices, isTransient } =
      mode === "text" ? { lists: [], notices: [], isTransient: false } : await embedQuery(agent, request);
    // A permanent failure needs a person to fix it; after a transient one the client may retry.
    if (mode === "vector" && lists.length === 0)
      throw new ApiError(isTransient ? "unavailable" : "conflict", notices.join(" "));
    const parameters: SearchParameters = {
      lists,
      candidates: candidatesFor(limit),
      tuning: searchTuning,
      ...(mode !== "vector" && { query }),
      ...(owners && { owners }),
      ...(session_id !== undefined && { session_id }),
      ...(from !== undefined && { from }),
      ...(until !== undefined && { until }),
      ...(metadata && { metadata }),
    };
    const { found, exact } = await db.inOrganisation(agent.organisationId, (trx) =>
      searchMemories(trx, agent, parameters),
    );
    const rows = new Map(found.map(({ id, row }) => [id, row]));
    const hits = fuseRanks(found, limit).flatMap((hit) => {
      const row = rows.get(hit.id);
      return row ? [{ ...hit, row }] : [];
    });
    const isTextOnly = mode === "hybrid" && lists.length === 0;
    return {
      hits,
      mode: isTextOnly ? "text" : mode,
      exact,
      notice:
        notices.length === 0
          ? null
          : [...notices, ...(isTextOnly ? ["This search went by words alone."] : [])].join(" "),
    };
  };
}
