import type { EmbedderSettings, SearchMode } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { PermanentModelError, TransientModelError } from "../../outbound/models/model.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { ApiError } from "../../platform/api-error.ts";
import type { Logger } from "../../platform/logger.ts";
import type { EmbedText } from "./embed-text.ts";
import { type SearchParameters, type SearchResult, searchMemories } from "./memory-queries.ts";
import { embedderName, embedderSettings, type SearchReport, searchFusion, searchTuning } from "./memory-rules.ts";

export interface MemorySearchRequest
  extends Pick<SearchParameters, "owners" | "session_id" | "from" | "until" | "metadata" | "offset" | "limit"> {
  readonly query: string;
  /** How many each list has: the result is merged from these. */
  readonly candidates: number;
  readonly mode: SearchMode;
  /** The agent's current embedder. */
  readonly embedder: EmbedderSettings;
  /** Aborts when the result is no longer needed. */
  readonly signal?: AbortSignal;
}

export type MemorySearchResult = SearchReport & Pick<SearchResult, "found" | "total">;

export type SearchMemory = (agent: AgentKey, request: MemorySearchRequest) => Promise<MemorySearchResult>;

interface SearchMemoryDeps {
  readonly db: Database;
  readonly embedText: EmbedText;
  readonly logger: Logger;
}

/** Vectors of a query, one for each embedder that answered. */
interface Embedded extends Pick<SearchParameters, "lists"> {
  readonly notices: readonly string[];
  readonly isTransient: boolean;
}

const nothingEmbedded: Embedded = { lists: [], notices: [], isTransient: false };

const joinEmbedded = (all: readonly Embedded[]): Embedded => ({
  lists: all.flatMap(({ lists }) => lists),
  notices: all.flatMap(({ notices }) => notices),
  isTransient: all.some(({ isTransient }) => isTransient),
});

const toParameters = (request: MemorySearchRequest): Omit<SearchParameters, "lists"> => {
  const { query, candidates, offset, limit, mode, embedder, owners, session_id, from, until, metadata } = request;
  return {
    candidates,
    offset,
    limit,
    tuning: searchTuning,
    fusion: searchFusion,
    embedder: embedderName(embedder),
    ...(mode !== "vector" && { query }),
    ...(owners && { owners }),
    ...(session_id !== undefined && { session_id }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
    ...(metadata && { metadata }),
  };
};

const failureReason = (error: unknown): string =>
  error instanceof TransientModelError || error instanceof PermanentModelError || error instanceof ApiError
    ? error.message
    : "It did not answer in time.";

export function createSearchMemory({ db, embedText, logger }: SearchMemoryDeps): SearchMemory {
  /** A vector of the query, or none and a notice. */
  const embedQuery = async (
    organisationId: string,
    settings: EmbedderSettings,
    { query, signal }: MemorySearchRequest,
  ): Promise<Embedded> => {
    try {
      const { embedding: vector, ...by } = await embedText(organisationId, settings, query, signal);
      return { lists: [{ ...by, vector }], notices: [], isTransient: false };
    } catch (error) {
      if (signal?.aborted) throw new ApiError("invalid_request", "The client has closed the connection.");
      logger.debug({ err: error, embedder: settings.model }, "query embedding failed");
      const notice = `The embedder ${settings.model} could not be asked: ${failureReason(error)}`;
      return { lists: [], notices: [notice], isTransient: !(error instanceof PermanentModelError) };
    }
  };

  return async (agent, request) => {
    const { mode, embedder } = request;
    const search = ({ lists }: Embedded) =>
      db.onBehalfOf(agent.organisationId, (each) => searchMemories(each, agent, { ...toParameters(request), lists }));
    const embedWith = (settings: EmbedderSettings) => embedQuery(agent.organisationId, settings, request);
    let embedded = mode === "text" ? nothingEmbedded : await embedWith(embedder);
    let result = await search(embedded);
    // While memories are being re-embedded, some have vectors of another embedder: a second search has a list for each.
    if (mode !== "text" && result.otherEmbedders.length > 0) {
      const others = await Promise.all(result.otherEmbedders.map((name) => embedWith(embedderSettings(name))));
      embedded = joinEmbedded([embedded, ...others]);
      if (others.some(({ lists }) => lists.length > 0)) result = await search(embedded);
    }
    const { lists, notices, isTransient } = embedded;
    // A permanent failure needs a person to fix it; after a transient one the client may retry.
    if (mode === "vector" && lists.length === 0)
      throw new ApiError(isTransient ? "unavailable" : "conflict", notices.join(" "));
    const isTextOnly = mode === "hybrid" && lists.length === 0;
    return {
      found: result.found,
      total: result.total,
      mode: isTextOnly ? "text" : mode,
      exact: result.exact,
      notice:
        notices.length === 0
          ? null
          : [...notices, ...(isTextOnly ? ["This search went by words alone."] : [])].join(" "),
    };
  };
}
