import type { Memory, MemoryClear } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import type { ClearRow } from "./clear-queries.ts";
import type { MemoryRow } from "./memory-queries.ts";
import { userIdFromOwner } from "./memory-rules.ts";

export const toMemory = (row: MemoryRow): Memory => ({
  id: toPublicId("memory", row.id),
  content: row.content,
  user_id: userIdFromOwner(row.owner),
  session_id: row.session_id,
  source_request_id: row.source_id && toPublicId("request", row.source_id),
  metadata: row.metadata as Memory["metadata"],
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const toClear = (row: ClearRow): MemoryClear => ({
  id: toPublicId("clear", row.id),
  status: row.completed_at ? "completed" : "running",
  memories_deleted: Number(row.memories),
  messages_deleted: Number(row.messages),
  user_id: row.owner === null ? null : userIdFromOwner(row.owner),
  session_id: row.session_id,
  before: row.before?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  completed_at: row.completed_at?.toISOString() ?? null,
});
