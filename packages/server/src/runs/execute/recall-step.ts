import type { Database } from "../../db/database.ts";
import type { RunInput } from "../../engine/messages.ts";
import { toPublicId } from "../../platform/ids.ts";
import { storableText } from "../../platform/storable-text.ts";
import { findEmbedderSettings } from "../../resources/memory/embed-memories.ts";
import { limitRecalled, ownersForRun, recallCandidates } from "../../resources/memory/memory-rules.ts";
import type { SearchMemory } from "../../resources/memory/search-memory.ts";
import { logLine } from "../record/run-log.ts";
import type { Progress, RecallResult } from "../run.ts";
import type { EndIfOver } from "./end-if-over.ts";
import { interruptedLine, interruptedReason, type PublishStep } from "./step-events.ts";

interface RecallDeps {
  readonly db: Database;
  readonly searchMemory: SearchMemory;
  readonly endIfOver: EndIfOver;
  readonly publish: PublishStep;
  readonly now: () => number;
}

export interface RecallStep {
  /** Searches the agent's memories for the message: those of its user, and the shared ones. */
  readonly recall: (run: RunInput, progress: Progress, interrupted?: boolean) => Promise<RecallResult>;
}

/** A longer query does not improve the search. */
const maxQueryLength = 4000;

export function createRecallStep({ db, searchMemory, endIfOver, publish, now }: RecallDeps): RecallStep {
  const event = { type: "step", kind: "memory", step: 0, name: "memory", attempt: 1 } as const;

  const recall = async (run: RunInput, interrupted: boolean): Promise<RecallResult> => {
    const startedAtMs = now();
    const { organisationId, agentId, userId, message, definition } = run;
    const agentKey = { organisationId, agentId };
    const embedder = await findEmbedderSettings(db, agentKey);
    if (!embedder) return { recalled: [], log: [] };
    if (interrupted) publish(run, { ...event, status: "interrupted", reason: interruptedReason });
    publish(run, { ...event, status: "started" });
    const { found, mode, notice } = await searchMemory(agentKey, {
      query: storableText(message, maxQueryLength),
      candidates: recallCandidates(definition.memory.recall_limit),
      limit: definition.memory.recall_limit,
      offset: 0,
      mode: "hybrid",
      embedder,
      owners: ownersForRun(userId),
    });
    const recalled = limitRecalled(
      found.map(({ score, row }) => ({
        id: toPublicId("memory", row.id),
        content: row.content,
        updatedAt: row.updated_at.toISOString(),
        score,
      })),
    );
    const about = {
      type: "memory",
      step: 0,
      mode,
      duration_ms: now() - startedAtMs,
      memories: recalled.map(({ id, score }) => ({ id, score })),
      ...(notice !== null && { notice }),
    };
    const count = recalled.length === 1 ? "1 memory" : `${recalled.length} memories`;
    publish(run, { ...event, status: "completed" });
    const repeated = interrupted ? [interruptedLine(startedAtMs, event.name, { kind: "memory", step: 0 })] : [];
    const line = logLine(startedAtMs, notice === null ? "info" : "warn", `Recalled ${count}`, about);
    return { recalled, log: [...repeated, line] };
  };
  return {
    recall: (run, progress, interrupted = false) => endIfOver(run, progress, [], () => recall(run, interrupted)),
  };
}
