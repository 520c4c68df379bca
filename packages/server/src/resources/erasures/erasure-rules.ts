import type { ErasedPart, ErasureReceipt, ExpiringPart } from "@perch/contract";

/** Stands in the place of a text that was erased, in records that stay. */
export const erasedMark = "[erased]";

/** Of one organisation. Each erasure reads all records, so a few at a time are as quick as many. */
export const maxOpenErasures = 20;

/** The parts of a pass, in their order. */
export const stages = [
  "runs",
  "sent",
  "connections",
  // Events of connections that are gone: no new ones come.
  "connection_events",
  "memories",
  "log_entries",
  "answers",
  "audit_entries",
] as const;
export type Stage = (typeof stages)[number];

/** After which row a stage goes on; absent at its beginning. */
export interface Position {
  readonly agentId?: string;
  readonly at?: string;
  readonly id?: string;
}

/**
 * Where an erasure is. It begins by looking for runs under way: without any, one pass is enough. Otherwise a first pass removes what
 * is there, `settle` waits until the runs have ended, and the last pass removes what they wrote.
 */
export type Progress =
  | { readonly stage: "begin" | "settle" }
  | {
      readonly stage: Stage;
      readonly isLast: boolean;
      readonly position?: Position;
      /** Since when the stage has waited for others; absent while it works. */
      readonly waitingSince?: string;
    };

export type StageProgress = Extract<Progress, { readonly isLast: boolean }>;
export const isInStage = (progress: Progress): progress is StageProgress => "isLast" in progress;

export const firstProgress: Progress = { stage: "begin" };

/** What follows a stage that has reached its end; undefined: the erasure has completed. */
export function afterStage({
  stage,
  isLast,
}: {
  readonly stage: Stage;
  readonly isLast: boolean;
}): Progress | undefined {
  const next = stages[stages.indexOf(stage) + 1];
  if (next) return { stage: next, isLast };
  return isLast ? undefined : { stage: "settle" };
}

/** An embedder may be down for days: what is still under way after this time is listed in the receipt instead. */
export const maxWaitMs = 3_600_000;
const firstWaitMs = 2000;
const longestWaitMs = 60_000;

/** Each look reads all invocations of the engine, so they become rarer: the end is noticed late by at most a tenth of the wait. */
export const nextWaitMs = (waitedMs: number): number => Math.min(Math.max(waitedMs / 10, firstWaitMs), longestWaitMs);

/** Every kind of thing that is counted, in the order of the receipt. */
const countedParts = {
  connections: { where: "database", what: "connected accounts", how: "deleted" },
  memories: { where: "database", what: "memories", how: "deleted" },
  session_messages: { where: "database", what: "messages of sessions", how: "deleted" },
  runs: { where: "database", what: "records of runs", how: "kept_without_text" },
  run_contents: { where: "database", what: "contents of steps", how: "deleted" },
  waiting_runs: { where: "database", what: "states of runs that waited for a person", how: "deleted" },
  approvals: { where: "database", what: "approvals", how: "kept_without_text" },
  log_entries: { where: "database", what: "log entries", how: "deleted" },
  events: { where: "database", what: "events", how: "kept_without_text" },
  deliveries: { where: "database", what: "pending webhook deliveries", how: "kept_without_text" },
  delivery_attempts: { where: "database", what: "responses of webhook receivers", how: "deleted" },
  memory_clears: { where: "database", what: "ended clears of memory", how: "deleted" },
  kept_answers: { where: "database", what: "answers kept for an Idempotency-Key", how: "deleted" },
  audit_entries: { where: "database", what: "audit entries", how: "kept_without_text" },
  engine_runs: { where: "engine", what: "results of runs of the last hour", how: "deleted" },
  engine_sent: { where: "engine", what: "calls that sessions sent in the last hour", how: "deleted" },
  streams: { where: "streams", what: "streams of events", how: "deleted" },
} as const satisfies Record<string, Omit<ErasedPart, "removed">>;
export type CountedPart = keyof typeof countedParts;
/** Counted too, but not removed: calls of the user's sessions that were under way when the wait for them was over. */
const leftPart = "engine_sent_left";
export type Counts = Partial<Record<CountedPart | typeof leftPart, number>>;

export function addCounts(counts: Counts, added: Counts): Counts {
  const names = [...(Object.keys(countedParts) as CountedPart[]), leftPart] as const;
  const sums = names.map((name) => [name, (counts[name] ?? 0) + (added[name] ?? 0)] as const);
  return Object.fromEntries(sums.filter(([, count]) => count > 0));
}

/** What was there and is not reached, with the time after which it is gone. */
const expiring: readonly ExpiringPart[] = [
  {
    where: "database",
    what: "deleted rows on PostgreSQL's disk",
    when: "at PostgreSQL's next vacuum of the table, as a rule within a day",
  },
  {
    where: "database",
    what: "hashes of requests that had an Idempotency-Key, without text",
    when: "within 3 days after the request",
  },
  {
    where: "database",
    what: "answers that servers of a release without erasures kept for an Idempotency-Key",
    when: "3 days after the request",
  },
  {
    where: "database",
    what: "write-ahead log and backups",
    when: "at the end of the retention that the operator of this installation has set for them",
  },
  {
    where: "engine",
    what: "deleted entries on the engine's disk",
    when: "at the engine's next compaction and the trim of its log, as a rule within a day",
  },
];

const expiringCalls = (count: number): ExpiringPart => ({
  where: "engine",
  what: `calls of sessions that had not ended after an hour, such as embeddings: ${count}`,
  when: "an hour after each has ended",
});

const notCovered: readonly string[] = [
  "What was sent to model providers, tools, remote agents, webhook receivers and trace collectors before: ask those who run them.",
  "Consents at providers of connected accounts that did not answer when they were told, or that offer no way to be told: the user can end them there.",
  "Logs of load balancers and proxies in front of Perch: the path of the request for an erasure holds the user's id.",
  "Texts of others that mention the user, such as memories of all users, runs of other users and the agents' instructions.",
  "Log entries that were added without `user_id` in their metadata and do not belong to a run of the user.",
  "What was accepted after the erasure was requested.",
];

export const receiptOf = (counts: Counts): ErasureReceipt => ({
  removed: (Object.keys(countedParts) as CountedPart[]).map((name) => ({
    ...countedParts[name],
    removed: counts[name] ?? 0,
  })),
  expires: [...expiring, ...(counts[leftPart] ? [expiringCalls(counts[leftPart])] : [])],
  not_covered: [...notCovered],
});
