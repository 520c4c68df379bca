import { sql } from "kysely";
import type { Database } from "../../db/database.ts";
import { ofOrganisation } from "../quotas/quota-count.ts";
import type { Resource } from "../resource.ts";
import { clearDeletedAgent } from "./clear-deleted-agent.ts";
import { clearHandlers } from "./clear-handlers.ts";
import { eraseMemories } from "./erase-memories.ts";
import { createRepairEmbeddings, type LostEmbeddingsDeps } from "./lost-embeddings.ts";
import { memoryHandlers } from "./memory-handlers.ts";
import { finishOpenClears, type RunClear } from "./run-clear.ts";

type Deps = Parameters<typeof memoryHandlers>[0] & Parameters<typeof clearHandlers>[0];

interface ClearDeps {
  readonly db: Database;
  readonly runClear: RunClear;
}

const finishClears = ({ db, runClear }: ClearDeps) => ({ name: "clears", run: () => finishOpenClears(db, runClear) });

export const memoryResource = {
  name: "memory",
  tables: {
    memories: {
      bound: "quota",
      // An agent with memories is not purged: they are cleared first.
      agent: "bound",
      users: { owner: { by: "memories" }, session_id: { by: "memories" } },
    },
    memory_clears: {
      bound: "purge",
      // That have ended.
      purge: { function: "purge_clears", keptDays: [30] },
      agent: "purge_agent",
      users: { owner: { by: "erase_answers_and_clears" }, session_id: { by: "erase_user_runs" } },
    },
    memory_counts: { bound: "fixed", agent: "purge_agent" },
    memory_bytes: { bound: "fixed" },
  },
  audited: { memory: "memory" },
  quotas: {
    memoryBytes: {
      // Deleting memories that were stored before they were counted would make it negative.
      count: (of) =>
        sql<number>`greatest(0, (select sum(bytes) from memory_bytes where ${ofOrganisation(of)}))::float8`,
      reached: "This organisation stores # MB of memories",
      advice: "Delete some, which counts within two minutes, set `memory.remember` of its agents to false",
    },
  },
  erasure: {
    stages: () => [eraseMemories],
    receipt: {
      memories: { store: "database", data: "memories", action: "deleted" },
      memory_clears: { store: "database", data: "ended clears of memory", action: "deleted" },
    },
  },
  onAgentDelete: clearDeletedAgent,
  handlers: (deps: Deps) => ({ ...memoryHandlers(deps), ...clearHandlers(deps) }),
  housekeeping: (deps: ClearDeps) => [finishClears(deps)],
  reconcile: (deps: ClearDeps & LostEmbeddingsDeps) => [
    finishClears(deps),
    { name: "embeddings", runFrom: createRepairEmbeddings(deps) },
  ],
} as const satisfies Resource;
