import type { SentRequest } from "./clients.ts";
import type { Recorded } from "./database-records.ts";
import type { CallCount } from "./model-calls.ts";

export interface Verdict {
  readonly invocations: number;
  readonly faults: number;
  readonly lost: number;
  readonly different_answers_for_one_key: number;
  readonly model_calls_beyond_faults: number;
  readonly sessions_out_of_order: number;
}

export interface Findings {
  readonly lost: readonly string[];
  readonly different: readonly string[];
  readonly outOfOrder: readonly string[];
}

/** Messages are unique, so that each key can be matched to its row. */
export function compare(sent: readonly SentRequest[], { runs, sessions }: Recorded): Findings {
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
  return { lost, different, outOfOrder };
}

export const toVerdict = (invocations: number, faults: number, findings: Findings, calls: CallCount): Verdict => ({
  invocations,
  faults,
  lost: findings.lost.length,
  different_answers_for_one_key: findings.different.length,
  model_calls_beyond_faults: calls.beyondFaults.length,
  sessions_out_of_order: findings.outOfOrder.length,
});

export const isClean = (verdict: Verdict): boolean =>
  verdict.lost +
    verdict.different_answers_for_one_key +
    verdict.model_calls_beyond_faults +
    verdict.sessions_out_of_order ===
  0;
