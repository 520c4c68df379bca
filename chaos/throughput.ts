import type { SentRequest } from "./clients.ts";
import type { Fault } from "./faults.ts";

/** Answers are counted for so long before each burst, and as long after each repair, once this time has passed. */
const windowMs = 10_000;
const recoveryMs = 5000;

const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * The rate of answers some seconds after each fault, compared with the rate before the bursts. The comparison uses the
 * median of all windows, because they differ by a tenth without any fault, and at least the rate before the first
 * burst, which no fault can have lowered. Empty if the pauses between the faults are too short.
 */
export function compareThroughput(
  sent: readonly SentRequest[],
  faults: readonly Fault[],
  pauseSeconds: number,
): { readonly name: string; readonly ratio: number }[] {
  if (pauseSeconds * 1000 < windowMs + recoveryMs) return [];
  const answeredSince = (fromMs: number): number =>
    sent.filter(({ answeredAtMs = 0 }) => answeredAtMs >= fromMs && answeredAtMs < fromMs + windowMs).length;
  const answeredBefore = faults.map(({ burstAtMs }) => answeredSince(burstAtMs - windowMs));
  const usual = Math.max(medianOf(answeredBefore), answeredBefore[0] ?? 0);
  return faults.map(({ name, repairedMs }) => ({ name, ratio: answeredSince(repairedMs + recoveryMs) / usual }));
}
