import type { RequirementTable } from "./requirement.ts";

export const memory = {
  "memory.result-fields": {
    section: "Resources and their fields",
    silent: "The fields of a memory result: not shown.",
    decision:
      "id (prefix `mem_`), content, score, score_parts (vector, text), user_id, session_id, source_request_id, created_at, updated_at, metadata.",
  },
  "memory.search-pages": {
    section: "Resources and their fields",
    silent: "What limit, offset, total and has_more of Search Memory count: not shown.",
    decision:
      "The results are the best 100 memories by meaning and the best 100 by words, merged, and at most 200. total is their number, limit (10 unless given, at most 100) and offset page through exactly these, and has_more is true exactly when another page has results.",
  },
  "memory.recall-and-remember": {
    section: "What the service does",
    silent: "How an agent comes to have a memory: not shown.",
    decision: "The agent's memory settings say whether runs keep new memories, and whether and how many a run recalls.",
  },
} as const satisfies RequirementTable;
