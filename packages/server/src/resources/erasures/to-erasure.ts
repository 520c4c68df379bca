import type { Erasure } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import type { ErasureRow } from "./erasure-queries.ts";
import { type Counts, receiptOf } from "./erasure-rules.ts";

/** Only the answer to the request for an erasure knows its user. */
export const toErasure = (row: ErasureRow, userId: string | null = null): Erasure => ({
  id: toPublicId("erasure", row.id),
  status: row.completed_at === null ? "running" : "completed",
  user_id: userId,
  created_at: row.created_at.toISOString(),
  completed_at: row.completed_at?.toISOString() ?? null,
  receipt: row.completed_at === null ? null : receiptOf(row.counts as Counts),
});
