import type { Database } from "../../db/database.ts";
import type { RunInput } from "../../engine/messages.ts";
import { toPublicId } from "../../platform/ids.ts";
import { storableText } from "../../platform/storable-text.ts";
import { findEmbedderSettings } from "../../resources/memory/embed-memories.ts";
import { limitRecalled, ownersForRun } from "../../resources/memory/memory-rules.ts";
import type { SearchMemory } from "../../resources/memory/search-memory.ts";
import { logLine } from "../record/run-log.ts";
import type { Progress, RecallResult } from "../run.ts";
import type { EndIfOver } from "./end-if-over.ts";

interface RecallDeps {
  readonly db: Database;
  readonly searchMemory: SearchMemory;
  readonly endIfOver: EndIfOver;
  readonly now: () => number;
}

export interface RecallStep {
  /** Searches the agent's memories for the message: those of its user, and the shared ones. */
  readonly recall: (run: RunInput, progress: Progress) => Promise<RecallResult>;
}

/** A longer query does not improve the search. */
const maxQueryLength = 4000;

export function createRecallStep({ db, searchMemory, endIfOver, now }: RecallDeps): RecallStep {
  const recall = async (run: RunInput): Promise<RecallResult> => {
    const startedAtMs = now();
    const { organisationId, agentId, userId, message, definition } = run;
    const agentKey = { organisationId, agentId };
    const embedder = await findEmbedderSettings(db, agentKey);
    if (!embedder) return { recalled: [], log: [] };
    const { hits, mode, notice } = await searchMemory(agentKey, {
      query: storableText(message, maxQueryLength),
      limit: definition.memory.recall_limit,
      mode: "hybrid",
      embedder,
      owners: ownersForRun(userId),
    });
    const recalled = limitRecalled(
      hits.map(({ id, score, row }) => ({
        id: toPublicId("memory", id),
        content: row.content,
        updatedAt: row.updated_at.toISOString(),
        score,
      })),
    );
    const about = {
      type: "memory",
      mode,
      duration_ms: now() - startedAtMs,
      memories: recalled.map(({ id, score }) => ({ id, score })),
      ...(notice !== null && { notice }),
    };
    const count = recalled.length === 1 ? "1 memory" : `${recalled.length} memories`;
    return { recalled, log: [logLine(startedAtMs, notice === null ? "info" : "warn", `Recalled ${count}`, about)] };
  };
  return { recall: (run, progress) => endIfOver(run, progress, [], () => recall(run)) };
}
