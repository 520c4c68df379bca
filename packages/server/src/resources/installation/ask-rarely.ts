import { withinLimit } from "../../platform/within-limit.ts";

/** After a question that took a time t, the next one is asked no earlier than `share` times t later. */
const share = 10;

/**
 * Returns the last answer until ten times the duration of its question has passed, and asks one question at a time, so
 * that readers do not slow down the part that they look at. A question that takes longer than the limit goes on, and
 * the last answer stands in the meantime. Undefined if there is none yet, or if the question failed.
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
