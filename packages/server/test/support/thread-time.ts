/** What this thread spends: the process's others collect garbage or compile, and other programs do not count either. */
export function threadMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  return (user + system) / 1000;
}

export function threadMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  return threadMs(before);
}

/** Noise only adds to it. */
export const leastThreadMsOf = (work: () => void): number =>
  Math.min(...Array.from({ length: 5 }, () => threadMsOf(work)));

/** The same of work that waits. A machine that is paused charges this thread for it: up to five attempts come below a limit. */
export async function threadMsWithin(limitMs: number, work: () => Promise<unknown>): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 5 && leastMs > limitMs; i++) {
    const before = process.threadCpuUsage();
    await work();
    leastMs = Math.min(leastMs, threadMs(before));
  }
  return leastMs;
}

/**
 * How many times longer than on a usual machine anything takes now: 1 or more. Limits in milliseconds of processor time
 * are multiplied by it, because a machine that is shared may run at half its speed.
 */
export function slowness(): number {
  const map = JSON.stringify(Object.fromEntries(Array.from({ length: 19_000 }, (_, index) => [`a${index}`, 0])));
  const parseMs = Array.from({ length: 9 }, () => threadMsOf(() => void JSON.parse(map))).toSorted((a, b) => a - b);
  return Math.max(1, (parseMs[4] ?? 0) / 8);
}
