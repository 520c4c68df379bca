import type { ErasureReceipt, ExpiringPart } from "@perch/contract";
import type { Counts, Erasure, Position } from "../erasure-stage.ts";

/** Stands in the place of a text that was erased, in records that stay. */
export const erasedMark = "[erased]";

/** The limit for one organisation. Each erasure reads all records, so a few at a time are as quick as many. */
export const maxOpenErasures = 20;

/**
 * The progress of an erasure. It begins by looking for runs under way: without any, one pass is enough. Otherwise a
 * first pass removes the existing data, `settle` waits until the runs have ended, and the last pass removes the data
 * that they wrote.
 */
export type Progress =
  | { readonly stage: "begin" | "settle" }
  | {
      readonly stage: string;
      readonly isLast: boolean;
      readonly position?: Position;
      /** Since when the stage has waited for others; absent while it works. */
      readonly waitingSince?: string;
    };

export type StageProgress = Extract<Progress, { readonly isLast: boolean }>;
export const isInStage = (progress: Progress): progress is StageProgress => "isLast" in progress;

export const firstProgress: Progress = { stage: "begin" };

/**
 * The stages before those of resources: they need the engine, and the data that the others remove may come from runs.
 */
export const runStages = ["runs", "sent"] as const;

/** The stage after one that has reached its end; undefined if the erasure has completed. */
export function afterStage(
  stages: readonly string[],
  { stage, isLast }: { readonly stage: string; readonly isLast: boolean },
): Progress | undefined {
  const next = stages[stages.indexOf(stage) + 1];
  if (next !== undefined) return { stage: next, isLast };
  return isLast ? undefined : { stage: "settle" };
}

/** An embedder may be down for days, so the receipt lists work that is still under way after this time. */
export const maxWaitMs = 3_600_000;
const firstWaitMs = 2000;
const longestWaitMs = 60_000;

/** Each look reads all invocations of the engine, so they become rarer: the end is noticed late by at most a tenth of the wait. */
export const nextWaitMs = (waitedMs: number): number => Math.min(Math.max(waitedMs / 10, firstWaitMs), longestWaitMs);

/** Counted too, but not removed: calls of the user's sessions that were under way when the wait for them was over. */
const leftPart = "engine_sent_left";

/** A count that the receipt does not have would be lost without a word. */
export function requireKnown(parts: Erasure["receipt"], counts: Counts): void {
  const unknown = Object.keys(counts).find((name) => !(name in parts) && name !== leftPart);
  if (unknown !== undefined) throw new Error(`no receipt has a part called ${unknown}`);
}

export function addCounts(counts: Counts, added: Counts): Counts {
  const names = new Set([...Object.keys(counts), ...Object.keys(added)]);
  const sums = [...names].map((name) => [name, (counts[name] ?? 0) + (added[name] ?? 0)] as const);
  return Object.fromEntries(sums.filter(([, count]) => count > 0));
}

/** Data that is not reached, with the time after which it is gone. */
const expiring: readonly ExpiringPart[] = [
  {
    store: "database",
    data: "deleted rows on PostgreSQL's disk",
    expires: "at PostgreSQL's next vacuum of the table, as a rule within a day",
  },
  {
    store: "database",
    data: "hashes of requests that had an Idempotency-Key, without text",
    expires: "within 3 days after the request",
  },
  {
    store: "database",
    data: "answers that servers of a release without erasures kept for an Idempotency-Key",
    expires: "3 days after the request",
  },
  {
    store: "database",
    data: "write-ahead log and backups",
    expires: "at the end of the retention that the operator of this installation has set for them",
  },
  {
    store: "engine",
    data: "deleted entries on the engine's disk",
    expires: "at the engine's next compaction and the trim of its log, as a rule within a day",
  },
];

const expiringCalls = (count: number): ExpiringPart => ({
  store: "engine",
  data: `calls of sessions that had not ended after an hour, such as embeddings: ${count}`,
  expires: "an hour after each has ended",
});

const notCovered: readonly string[] = [
  "What was sent to model providers, tools, remote agents, webhook receivers and trace collectors before: ask those who run them.",
  "Consents at providers of connected accounts that did not answer when they were told, or that offer no way to be told: the user can end them there.",
  "Logs of load balancers and proxies in front of Perch: the path of the request for an erasure holds the user's id.",
  "Texts of others that mention the user, such as memories of all users, runs of other users and the agents' instructions.",
  "Log entries that were added without `user_id` in their metadata and do not belong to a run of the user.",
  "What was accepted after the erasure was requested.",
];

/** Receipts have had this order. Parts that are not in it follow. */
const receiptOrder = [
  ...[
    "connections",
    "memories",
    "session_messages",
    "runs",
    "run_contents",
    "waiting_runs",
    "approvals",
    "log_entries",
  ],
  ...["events", "deliveries", "delivery_attempts", "memory_clears", "kept_answers", "audit_entries"],
  ...["engine_runs", "engine_sent", "streams"],
];

export const inReceiptOrder = (parts: Erasure["receipt"]): Erasure["receipt"] => {
  const placeOf = (name: string) => (receiptOrder.includes(name) ? receiptOrder.indexOf(name) : receiptOrder.length);
  return Object.fromEntries(Object.entries(parts).toSorted(([a], [b]) => placeOf(a) - placeOf(b)));
};

/** `parts` are those of all resources, in the order of the receipt. */
export const receiptOf = (parts: Erasure["receipt"], counts: Counts): ErasureReceipt => ({
  removed: Object.entries(parts).map(([name, part]) => ({ ...part, count: counts[name] ?? 0 })),
  expires: [...expiring, ...(counts[leftPart] ? [expiringCalls(counts[leftPart])] : [])],
  not_covered: [...notCovered],
});
