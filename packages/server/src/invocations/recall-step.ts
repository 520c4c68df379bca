import type { Database } from "../db/database.ts";
import { findEmbedderSettings } from "../memory/embed-memories.ts";
import { cutRecalled, ownersForRun, type Recalled } from "../memory/memory-rules.ts";
import type { SearchMemory } from "../memory/search-memory.ts";
import { toPublicId } from "../platform/ids.ts";
import { storableText } from "../platform/storable-text.ts";
import type { LogLine, RunInput } from "./run.ts";
import { line } from "./run-log.ts";

interface RecallDeps {
  readonly db: Database;
  readonly searchMemory: SearchMemory;
  readonly now: () => number;
}

export interface RecallStep {
  /** What the agent remembers that has to do with the message: of its user, and of what everybody may know. */
  readonly recall: (
    run: RunInput,
  ) => Promise<{ readonly recalled: readonly Recalled[]; readonly log: readonly LogLine[] }>;
}

/** More of a message than this does not make the search better. */
const mostAsked = 4000;

export const createRecallStep = ({ db, searchMemory, now }: RecallDeps): RecallStep => ({
  recall: async (run) => {
    const startedAtMs = now();
    const { organisationId, agentId, userId, message, definition } = run;
    const place = { organisationId, agentId };
    const embedder = await findEmbedderSettings(db, place);
    if (!embedder) return { recalled: [], log: [] };
    const { hits, mode, notice } = await searchMemory(place, {
      query: storableText(message, mostAsked),
      limit: definition.memory.recall_limit,
      mode: "hybrid",
      embedder,
      owners: ownersForRun(userId),
    });
    const recalled = cutRecalled(
      hits.map(({ id, score, row }) => ({
        id: toPublicId("memory", id),
        content: row.content,
        saidAt: row.updated_at.toISOString(),
        score,
      })),
    );
    const about = {
      type: "memory",
      mode,
      ms: now() - startedAtMs,
      memories: recalled.map(({ id, score }) => ({ id, score })),
      ...(notice !== null && { notice }),
    };
    const count = recalled.length === 1 ? "1 memory" : `${recalled.length} memories`;
    return { recalled, log: [line(startedAtMs, notice === null ? "info" : "warn", `Recalled ${count}`, about)] };
  },
});
