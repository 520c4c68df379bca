/** A question may take this share of the time of whoever is asked. */
const share = 10;

/**
 * Answers from the last time until ten times as long has passed as the question took, and asks one at a time: whoever looks at a part
 * must not be what slows it down. Undefined if the question failed.
 */
export function seldom<T>(
  ask: () => Promise<T>,
  nowMs: () => number = () => performance.now(),
): () => Promise<T | undefined> {
  let last: { readonly answer: Promise<T | undefined>; freshUntilMs: number } | undefined;
  return () => {
    const startedMs = nowMs();
    if (last && startedMs < last.freshUntilMs) return last.answer;
    const asked = { answer: ask().catch(() => undefined), freshUntilMs: Number.POSITIVE_INFINITY };
    void asked.answer.then(() => {
      const endedMs = nowMs();
      asked.freshUntilMs = endedMs + share * (endedMs - startedMs);
    });
    last = asked;
    return asked.answer;
  };
}
