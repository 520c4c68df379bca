import type { EmbedderSettings, SearchMode } from "@perch/contract";
import type { Database } from "../db/database.ts";
import type { Embedder } from "../models/embedder.ts";
import { PassingModelError, PermanentModelError } from "../models/model.ts";
import { ApiError } from "../platform/api-error.ts";
import type { Logger } from "../platform/logger.ts";
import type { FindEmbedder } from "../providers/find-embedder.ts";
import { listOtherEmbedders } from "./embedding-queries.ts";
import { type MemoryRow, type SearchWish, searchMemories } from "./memory-queries.ts";
import {
  candidatesFor,
  embedderName,
  embedderSettings,
  fuse,
  type MemoryPlace,
  type Scored,
  type SearchReport,
} from "./memory-rules.ts";

export interface MemoryQuestion extends Pick<SearchWish, "owners" | "session_id" | "from" | "until" | "metadata"> {
  readonly query: string;
  readonly limit: number;
  readonly mode: SearchMode;
  /** What the agent's memories are embedded with. */
  readonly embedder: EmbedderSettings;
}

export interface MemoryAnswer extends SearchReport {
  readonly hits: readonly (Scored & { readonly row: MemoryRow })[];
}

export type SearchMemory = (place: MemoryPlace, question: MemoryQuestion) => Promise<MemoryAnswer>;

interface SearchMemoryDeps {
  readonly db: Database;
  readonly findEmbedder: FindEmbedder;
  readonly logger: Logger;
}

/** A search does not wait for a slow embedder any longer: words alone find much. */
const embedMs = 5000;

export const toVector = (values: readonly number[]): string => `[${values.join(",")}]`;

const whyNot = (error: unknown): string =>
  error instanceof PassingModelError || error instanceof PermanentModelError
    ? error.message
    : "It did not answer in time.";

export function createSearchMemory({ db, findEmbedder, logger }: SearchMemoryDeps): SearchMemory {
  const listFor = async ({ organisationId }: MemoryPlace, settings: EmbedderSettings, query: string) => {
    const signal = AbortSignal.timeout(embedMs);
    const embedder: Embedder = await findEmbedder(organisationId, settings);
    const [vector] = await embedder.embed([query], signal);
    return { embedder: embedderName(settings), dimensions: settings.dimensions, vector: toVector(vector ?? []) };
  };

  /** One list for each embedder that memories are of: there is more than one while memories are being embedded anew. */
  const listsFor = async (place: MemoryPlace, { embedder, query }: MemoryQuestion) => {
    const notices: string[] = [];
    let isPassing = false;
    const attempt = async (settings: EmbedderSettings) => {
      try {
        return [await listFor(place, settings, query)];
      } catch (error) {
        logger.debug({ err: error, embedder: settings.model }, "a query could not be embedded");
        isPassing ||= !(error instanceof PermanentModelError);
        notices.push(`The embedder ${settings.model} could not be asked: ${whyNot(error)}`);
        return [];
      }
    };
    const current = embedderName(embedder);
    const [mine, others] = await Promise.all([
      attempt(embedder),
      db.inOrganisation(place.organisationId, (trx) => listOtherEmbedders(trx, place, current)),
    ]);
    const older = await Promise.all(others.map((name) => attempt(embedderSettings(name))));
    return { lists: [...mine, ...older.flat()], notices, isPassing };
  };

  return async (place, question) => {
    const { query, limit, mode, owners, session_id, from, until, metadata } = question;
    const { lists, notices, isPassing } =
      mode === "text" ? { lists: [], notices: [], isPassing: false } : await listsFor(place, question);
    // An embedder that refuses needs somebody to mend it; one that is away may be asked again.
    if (mode === "vector" && lists.length === 0)
      throw new ApiError(isPassing ? "unavailable" : "conflict", notices.join(" "));
    const wish: SearchWish = {
      lists,
      candidates: candidatesFor(limit),
      ...(mode !== "vector" && { query }),
      ...(owners && { owners }),
      ...(session_id !== undefined && { session_id }),
      ...(from !== undefined && { from }),
      ...(until !== undefined && { until }),
      ...(metadata && { metadata }),
    };
    const { found, exact } = await db.inOrganisation(place.organisationId, (trx) => searchMemories(trx, place, wish));
    const rows = new Map(found.map(({ id, row }) => [id, row]));
    const hits = fuse(found, limit).flatMap((hit) => {
      const row = rows.get(hit.id);
      return row ? [{ ...hit, row }] : [];
    });
    const byWordsAlone = mode === "hybrid" && lists.length === 0;
    return {
      hits,
      mode: byWordsAlone ? "text" : mode,
      exact,
      notice:
        notices.length === 0
          ? null
          : [...notices, ...(byWordsAlone ? ["This search went by words alone."] : [])].join(" "),
    };
  };
}
