import type { Redis } from "iovalkey";
import type { Logger } from "../platform/logger.ts";
import type { Subscriptions } from "../streams/valkey-subscriptions.ts";

/** What is new: all that a run logged, or entries by their place. */
export type News = { readonly run: string } | { readonly places: readonly (readonly [atMs: number, id: string])[] };

/** Tells whoever follows an agent's log that there is something new. Best effort: the log itself is in the database. */
export interface LogNews {
  readonly publish: (agentId: string, news: News) => void;
  readonly listen: (agentId: string, onNews: (news: News) => void) => () => void;
  readonly close: () => void;
}

export function createLocalNews(): LogNews {
  const listeners = new Map<string, Set<(news: News) => void>>();
  return {
    publish: (agentId, news) => listeners.get(agentId)?.forEach((listener) => void listener(news)),
    listen: (agentId, onNews) => {
      const all = listeners.get(agentId) ?? new Set();
      listeners.set(agentId, all.add(onNews));
      return () => {
        all.delete(onNews);
        if (all.size === 0) listeners.delete(agentId);
      };
    },
    close: () => listeners.clear(),
  };
}

const channelOf = (agentId: string) => `perch:logs:${agentId}`;

/** Over all processes that share Valkey. */
export function createSharedNews(valkey: Redis, subscriptions: Subscriptions, logger: Logger): LogNews {
  return {
    publish: (agentId, news) =>
      void valkey
        .publish(channelOf(agentId), JSON.stringify(news))
        .catch((error: unknown) => logger.debug({ err: error }, "news of a log could not be told")),
    listen: (agentId, onNews) =>
      subscriptions.listen(channelOf(agentId), (message) => {
        if (message) onNews(JSON.parse(message) as News);
      }),
    close: subscriptions.close,
  };
}
