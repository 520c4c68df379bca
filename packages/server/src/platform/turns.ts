import { ApiError } from "./api-error.ts";

/** One at a time for each key, in order of arrival, within this process. */
export type TakeTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * For work that would wait for the same row: those who wait here hold no database connection meanwhile. Past `mostWaiting` of one key
 * the next is refused.
 */
export function createTurns(mostWaiting: number): TakeTurn {
  const queues = new Map<string, { waiting: number; last: Promise<unknown> }>();
  return async (key, work) => {
    const queue = queues.get(key) ?? { waiting: 0, last: Promise.resolve() };
    queues.set(key, queue);
    if (queue.waiting >= mostWaiting)
      throw new ApiError("unavailable", "Too many changes of this kind wait for each other. Try again shortly.", {
        retryAfterSeconds: 1,
      });
    queue.waiting++;
    const mine = queue.last.then(work, work);
    queue.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      queue.waiting--;
      if (queue.waiting === 0) queues.delete(key);
    }
  };
}
