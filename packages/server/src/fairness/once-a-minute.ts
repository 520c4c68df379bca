const minuteMs = 60_000;
const maxKeys = 1000;

/** Whether a key was not seen for a minute: for messages that would otherwise come a thousand times in that time. */
export function createOnceAMinute(nowMs: () => number): (key: string) => boolean {
  const seen = new Map<string, number>();
  return (key) => {
    const at = nowMs();
    if (at - (seen.get(key) ?? Number.NEGATIVE_INFINITY) < minuteMs) return false;
    if (seen.size >= maxKeys) seen.clear();
    seen.set(key, at);
    return true;
  };
}
