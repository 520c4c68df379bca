import { withinLimit } from "../../platform/within-limit.ts";

/** A question may take this share of the time of whoever is asked. */
const share = 10;

/**
 * Answers from the last time until ten times as long has passed as the question took, and asks one at a time: whoever looks at a part
 * must not be what slows it down. A question that takes longer than anybody waits goes on, and the last answer stands meanwhile.
 * Undefined if there is none yet, or if the question failed.
 */
export function askRarely<T>(
  ask: () => Promise<T>,
  waitMs: number,
  nowMs: () => number = () => performance.now(),
): () => Promise<T | undefined> {
  let asked: { readonly answer: Promise<T | undefined>; freshUntilMs: number } | undefined;
  let known: T | undefined;
  const begin = (startedMs: number) => {
    const begun = {
      freshUntilMs: Number.POSITIVE_INFINITY,
      answer: ask()
        .catch(() => undefined)
        .then((found) => {
          const endedMs = nowMs();
          begun.freshUntilMs = endedMs + share * (endedMs - startedMs);
          known = found;
          return found;
        }),
    };
    return begun;
  };
  return () => {
    const startedMs = nowMs();
    if (!asked || startedMs >= asked.freshUntilMs) asked = begin(startedMs);
    const { answer } = asked;
    return withinLimit(waitMs, () => answer).catch(() => known);
  };
}
