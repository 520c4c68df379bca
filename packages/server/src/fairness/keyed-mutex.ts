import { ApiError } from "../platform/api-error.ts";

/** Runs work one at a time per key, in order of arrival, within this process. */
export type RunExclusive = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * For work that would wait for the same row lock: waiting here does not hold a database connection. More than `maxWaiting` per key
 * are refused.
 */
export function createKeyedMutex(maxWaiting: number): RunExclusive {
  const queues = new Map<string, { waiting: number; last: Promise<unknown> }>();
  return async (key, work) => {
    const queue = queues.get(key) ?? { waiting: 0, last: Promise.resolve() };
    queues.set(key, queue);
    if (queue.waiting >= maxWaiting)
      throw new ApiError("unavailable", "Too many changes of this kind are in progress. Try again shortly.", {
        retryAfterSeconds: 1,
      });
    queue.waiting++;
    const run = queue.last.then(work, work);
    queue.last = run.catch(() => undefined);
    try {
      return await run;
    } finally {
      queue.waiting--;
      if (queue.waiting === 0) queues.delete(key);
    }
  };
}
