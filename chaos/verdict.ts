import { agentNames, type SentRequest } from "./clients.ts";
import type { Recorded, RecordedRun } from "./database-records.ts";
import type { CallCount } from "./model-calls.ts";

export interface Verdict {
  readonly invocations: number;
  readonly faults: number;
  readonly lost: number;
  readonly different_answers_for_one_key: number;
  readonly model_calls_beyond_faults: number;
  readonly sessions_out_of_order: number;
  /** Log lines, events, deliveries and sums that are not those of the recorded runs. */
  readonly records_unlike_runs: number;
  /** Runs that the engine has not ended, though they were answered. */
  readonly runs_left_in_engine: number;
  /** Slots that were still occupied more than 10 seconds after their run had ended. */
  readonly slots_without_a_run: number;
  /** Requests that were refused for lack of a slot although no run occupied it. */
  readonly refused_for_nothing: number;
  /** Faults after which the clients got less than 0.9 of the answers they got before, if that was measured. */
  readonly faults_with_less_throughput: number;
}

export interface Findings {
  readonly lost: readonly string[];
  readonly different: readonly string[];
  readonly outOfOrder: readonly string[];
  readonly unlikeRuns: readonly string[];
}

/** The agent whose runs are delivered to a webhook. */
const [, agentWithWebhook] = agentNames;

const repeat = (text: string, times: number): string[] => Array.from({ length: Math.max(times, 0) }, () => text);

/** The records of a run must exist exactly once: its log lines, its event and its deliveries. */
function describeUnlikeRun(run: RecordedRun, received: ReadonlySet<string>): string[] {
  const { requestId, agent, steps, events, deliveries } = run;
  // A step that a fault interrupted has a log line about it. The release before logged that a run was accepted, too.
  const log = run.log.filter((type) => type !== "interrupted" && type !== "accepted");
  const expectedLog = ["ended", ...repeat("model_call", steps), ...repeat("tool_call", steps - 1)];
  const expectedDeliveries = repeat("delivered", agent === agentWithWebhook ? 1 : 0);
  return [
    ...(log.join() === expectedLog.join() ? [] : [`${requestId}: of ${steps} steps, logged ${log.join()}`]),
    ...(events === 1 ? [] : [`${requestId}: has ${events} events`]),
    ...(deliveries.join() === expectedDeliveries.join() ? [] : [`${requestId}: has deliveries ${deliveries.join()}`]),
    ...(deliveries.length === 0 || received.has(requestId) ? [] : [`${requestId}: the webhook did not receive it`]),
  ];
}

/** The sums of each agent's metrics must be those of its runs. */
function describeUnequalSums({ runs, sums }: Recorded): string[] {
  return [...Map.groupBy(runs, ({ agent }) => agent)].flatMap(([agent, own]) =>
    ["minute", "hour"].flatMap((granularity) => {
      const expected = `${own.length} runs, ${own.reduce((sum, { tokens }) => sum + tokens, 0)} tokens`;
      const found = sums.find((each) => each.agent === agent && each.granularity === granularity);
      const actual = `${found?.runs ?? 0} runs, ${found?.tokens ?? 0} tokens`;
      return actual === expected
        ? []
        : [`${agent}: its runs are ${expected}; each ${granularity}'s sums are ${actual}`];
    }),
  );
}

function describeOutOfOrder(sent: readonly SentRequest[], { sessions }: Recorded): string[] {
  const outOfOrder: string[] = [];
  const bySession = Map.groupBy(sent, ({ session }) => session?.id);
  for (const [id, turns] of bySession) {
    if (id === undefined) continue;
    const expected = turns.flatMap(({ message, answers }) => [
      `user: ${message}`,
      `assistant: ${answers[0]?.response}`,
    ]);
    const actual = sessions.get(id) ?? [];
    // The model's reply contains how many earlier messages it received.
    const unseen = turns.filter(
      ({ session, answers }) => !answers[0]?.response.includes(`| after ${session?.index} |`),
    );
    if (expected.join("\n") === actual.join("\n") && unseen.length === 0) continue;
    outOfOrder.push(
      `${id}: sent ${expected.length} messages, kept ${actual.length}; ${unseen.length} turns saw another history`,
    );
  }
  return outOfOrder;
}

/** Messages are unique, so that each key can be matched to its row. `received` has the request ids that the webhook received. */
export function compare(
  sent: readonly SentRequest[],
  recorded: Recorded,
  received: ReadonlySet<string> = new Set(),
): Findings {
  const { runs } = recorded;
  const rowsOf = Map.groupBy(runs, ({ message }) => message);
  const lost: string[] = [];
  const different: string[] = [];
  for (const { key, message, answers, attempts, lastRefusal } of sent) {
    const rows = rowsOf.get(message) ?? [];
    const completed = rows.filter(({ status }) => status === "completed");
    if (answers.length === 0) lost.push(`${key}: no answer after ${attempts} attempts, the last: ${lastRefusal}`);
    else if (completed.length === 0) lost.push(`${key}: answered, but recorded as ${rows[0]?.status ?? "nothing"}`);
    const seen = [...answers, ...rows].map(({ requestId, response }) => `${requestId} ${response}`);
    if (new Set(seen).size > 1 || rows.length > 1) different.push(`${key}: ${[...new Set(seen)].join(" <> ")}`);
  }
  const unlikeRuns = [...runs.flatMap((run) => describeUnlikeRun(run, received)), ...describeUnequalSums(recorded)];
  return { lost, different, outOfOrder: describeOutOfOrder(sent, recorded), unlikeRuns };
}

const minThroughputRatio = 0.9;

export const toVerdict = (
  invocations: number,
  faults: number,
  findings: Findings,
  calls: CallCount,
  left: {
    readonly runs: readonly string[];
    readonly slots: readonly string[];
    readonly refusedForNothing: readonly string[];
    readonly throughput: readonly { readonly ratio: number }[];
  },
): Verdict => ({
  invocations,
  faults,
  lost: findings.lost.length,
  different_answers_for_one_key: findings.different.length,
  model_calls_beyond_faults: calls.beyondFaults.length,
  sessions_out_of_order: findings.outOfOrder.length,
  records_unlike_runs: findings.unlikeRuns.length,
  runs_left_in_engine: left.runs.length,
  slots_without_a_run: left.slots.length,
  refused_for_nothing: left.refusedForNothing.length,
  faults_with_less_throughput: left.throughput.filter(({ ratio }) => ratio < minThroughputRatio).length,
});

export const isClean = (verdict: Verdict): boolean =>
  verdict.lost +
    verdict.different_answers_for_one_key +
    verdict.model_calls_beyond_faults +
    verdict.sessions_out_of_order +
    verdict.records_unlike_runs +
    verdict.runs_left_in_engine +
    verdict.slots_without_a_run +
    verdict.refused_for_nothing +
    verdict.faults_with_less_throughput ===
  0;
