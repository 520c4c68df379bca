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

/**
 * How many times longer than on a usual machine anything takes now: 1 or more. Limits in milliseconds of processor time
 * are multiplied by it, because a machine that is shared may run at half its speed.
 */
export function slowness(): number {
  const map = JSON.stringify(Object.fromEntries(Array.from({ length: 19_000 }, (_, index) => [`a${index}`, 0])));
  const parseMs = Array.from({ length: 9 }, () => threadMsOf(() => void JSON.parse(map))).toSorted((a, b) => a - b);
  return Math.max(1, (parseMs[4] ?? 0) / 8);
}
