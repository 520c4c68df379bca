/** For whom a text is embedded. */
export interface EmbedUse {
  readonly organisationId: string;
  /** No request waits for it, so texts of requests go first. */
  readonly isBackground: boolean;
}

export interface EmbeddingQueue<T> {
  /** Returns a function that leaves the queue; it returns false when `next` has taken the item already. */
  readonly add: (item: T, use: EmbedUse) => () => boolean;
  readonly next: () => T | undefined;
}

/** After this many texts of requests, one in the background gets its turn. */
const maxPassed = 20;

/** Organisations take turns, whatever each of them has queued. */
function createTurns<T>() {
  const queues = new Map<string, Set<{ readonly item: T }>>();
  return {
    add: (item: T, organisationId: string): (() => boolean) => {
      const entry = { item };
      const queue = queues.get(organisationId) ?? new Set();
      queues.set(organisationId, queue.add(entry));
      return () => {
        const wasQueued = queue.delete(entry);
        if (queue.size === 0 && queues.get(organisationId) === queue) queues.delete(organisationId);
        return wasQueued;
      };
    },
    next: (): T | undefined => {
      for (const [organisationId, queue] of queues) {
        const [entry] = queue;
        // To the end of the line.
        queues.delete(organisationId);
        if (entry) queue.delete(entry);
        if (queue.size > 0) queues.set(organisationId, queue);
        if (entry) return entry.item;
      }
      return undefined;
    },
    isEmpty: () => queues.size === 0,
  };
}

export function createEmbeddingQueue<T>(): EmbeddingQueue<T> {
  const [awaited, background] = [createTurns<T>(), createTurns<T>()];
  let passed = 0;
  return {
    add: (item, { organisationId, isBackground }) => (isBackground ? background : awaited).add(item, organisationId),
    next: () => {
      const isTurnOfBackground = awaited.isEmpty() || passed >= maxPassed;
      passed = isTurnOfBackground || background.isEmpty() ? 0 : passed + 1;
      return isTurnOfBackground ? (background.next() ?? awaited.next()) : awaited.next();
    },
  };
}
