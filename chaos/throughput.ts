import type { SentRequest } from "./clients.ts";
import type { Fault } from "./faults.ts";

/** Answers are counted for so long before each burst, and as long after each repair, once this time has passed. */
const windowMs = 10_000;
const recoveryMs = 5000;

/**
 * The rate of answers some seconds after each fault, beside the rate before its burst. Empty if the pauses between the faults are
 * too short to tell.
 */
export function compareThroughput(
  sent: readonly SentRequest[],
  faults: readonly Fault[],
  pauseSeconds: number,
): { readonly name: string; readonly ratio: number }[] {
  if (pauseSeconds * 1000 < windowMs + recoveryMs) return [];
  const answeredSince = (fromMs: number): number =>
    sent.filter(({ answeredAtMs = 0 }) => answeredAtMs >= fromMs && answeredAtMs < fromMs + windowMs).length;
  return faults.map(({ name, burstAtMs, repairedMs }) => ({
    name,
    ratio: answeredSince(repairedMs + recoveryMs) / answeredSince(burstAtMs - windowMs),
  }));
}
