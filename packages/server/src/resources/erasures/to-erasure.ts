import type { Erasure } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import type { Counts, Erasure as Erased } from "../erasure-stage.ts";
import type { ErasureRow } from "./erasure-queries.ts";
import { receiptOf } from "./erasure-rules.ts";

/** Only the answer to the request for an erasure knows its user. */
export const toErasure = (parts: Erased["receipt"], row: ErasureRow, userId: string | null = null): Erasure => ({
  id: toPublicId("erasure", row.id),
  status: row.completed_at === null ? "running" : "completed",
  user_id: userId,
  created_at: row.created_at.toISOString(),
  completed_at: row.completed_at?.toISOString() ?? null,
  receipt: row.completed_at === null ? null : receiptOf(parts, row.counts as Counts),
});
