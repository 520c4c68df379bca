import type { ModelCall } from "../counting-model.ts";
import type { Recorded } from "../database-records.ts";
import { countCalls } from "../model-calls.ts";
import { compare } from "../verdict.ts";
import type { Sent } from "./load.ts";
import type { Move } from "./move.ts";

export interface UpgradeVerdict {
  readonly invocations: number;
  readonly streams: number;
  readonly session_turns: number;
  readonly load_seconds: number;
  readonly calls_per_second: number;
  /** Calls for which the client got an error after all retries of its SDK. */
  readonly failed: number;
  /** Runs that were answered or accepted and are not recorded as completed. */
  readonly lost: number;
  /** Keys with two records or two different answers, and model calls that were made twice or for an unknown run. */
  readonly doubled: number;
  readonly sessions_out_of_order: number;
  /** Log lines, events, deliveries and sums that are not those of the recorded runs. */
  readonly records_unlike_runs: number;
  readonly runs_left_in_engine: number;
  /** Processes that did not end with success when they were stopped. */
  readonly unclean_ends: number;
  /** Attempts that the clients' SDK had to repeat. */
  readonly retried_attempts: number;
  readonly longest_wait_seconds: number;
  readonly longest_wait_of_slow_runs_seconds: number;
  readonly moves: readonly Move[];
}

export interface Observed {
  readonly sent: readonly Sent[];
  readonly recorded: Recorded;
  readonly calls: readonly ModelCall[];
  /** The request ids that the webhook received. */
  readonly received: ReadonlySet<string>;
  readonly runsLeft: readonly string[];
  readonly uncleanEnds: readonly string[];
  readonly loadSeconds: number;
  readonly moves: readonly Move[];
}

/** The counts that must be zero. */
const zeros = [
  "failed",
  "lost",
  "doubled",
  "sessions_out_of_order",
  "records_unlike_runs",
  "runs_left_in_engine",
  "unclean_ends",
] as const satisfies readonly (keyof UpgradeVerdict)[];

const count = (sent: readonly Sent[], kind: Sent["kind"]) => sent.filter((each) => each.kind === kind).length;

function longestWaitSeconds(sent: readonly Sent[], isSlow: boolean): number {
  const waits = sent.filter((each) => each.isSlow === isSlow).map((each) => (each.answeredAtMs ?? 0) - each.sentAtMs);
  return Math.round(Math.max(0, ...waits) / 10) / 100;
}

/** An upgrade without a run that outlives it, or without runs of one kind, would prove nothing. */
function describeEmptyTest({ sent, moves }: Observed): string[] {
  return [
    ...moves
      .filter(({ pinned_runs }) => pinned_runs === 0)
      .map(({ from }) => `no run was under way on ${from} at its end`),
    ...(["invocation", "stream", "session_turn"] as const)
      .filter((kind) => count(sent, kind) === 0)
      .map((kind) => `nothing of the kind ${kind} was sent`),
    ...(moves.length === 0 ? ["no release was changed"] : []),
  ];
}

/**
 * Compares the observations of clients, the model and the webhook with the records. `lines` describe the differences.
 */
export function judgeUpgrade(observed: Observed): {
  readonly verdict: UpgradeVerdict;
  readonly lines: readonly string[];
  readonly isClean: boolean;
} {
  const { sent, recorded, calls, received, runsLeft, uncleanEnds, loadSeconds, moves } = observed;
  const answered = sent.filter(({ answers }) => answers.length > 0);
  const failed = sent
    .filter(({ failure }) => failure !== undefined)
    .map(({ key, kind, attempts, failure }) => `${key}: ${kind} failed after ${attempts} attempts: ${failure}`);
  const findings = compare(answered, recorded, received);
  // No interruption explains a repeated call, because nothing is killed here.
  const repeated = countCalls(calls, answered, [], new Map()).beyondFaults;
  const unanswered = new Set(sent.filter(({ answers }) => answers.length === 0).map(({ message }) => message));
  const lostUnanswered = recorded.runs
    .filter(({ message, status }) => unanswered.has(message) && status !== "completed")
    .map(({ requestId, status }) => `${requestId}: accepted, never answered, and recorded as ${status}`);
  const empty = describeEmptyTest(observed);
  const verdict: UpgradeVerdict = {
    invocations: count(sent, "invocation"),
    streams: count(sent, "stream"),
    session_turns: count(sent, "session_turn"),
    load_seconds: Math.round(loadSeconds),
    calls_per_second: Math.round(sent.length / loadSeconds),
    failed: failed.length,
    lost: findings.lost.length + lostUnanswered.length,
    doubled: findings.different.length + repeated.length,
    sessions_out_of_order: findings.outOfOrder.length,
    records_unlike_runs: findings.unlikeRuns.length,
    runs_left_in_engine: runsLeft.length,
    unclean_ends: uncleanEnds.length,
    retried_attempts: sent.reduce((sum, { attempts }) => sum + Math.max(attempts - 1, 0), 0),
    longest_wait_seconds: longestWaitSeconds(sent, false),
    longest_wait_of_slow_runs_seconds: longestWaitSeconds(sent, true),
    moves,
  };
  const lists = [failed, findings.lost, lostUnanswered, findings.different, repeated, findings.outOfOrder];
  return {
    verdict,
    lines: [...empty, ...[...lists, findings.unlikeRuns, runsLeft, uncleanEnds].flatMap((list) => list.slice(0, 20))],
    isClean: empty.length === 0 && zeros.every((name) => verdict[name] === 0),
  };
}
