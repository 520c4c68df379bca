import type { Redis } from "iovalkey";
import type { Logger } from "../../platform/logger.ts";
import type { Subscriptions } from "../../streams/valkey-subscriptions.ts";

/** What was added: everything a run logged, or single entries by their position. Sent as JSON between releases: keep the names. */
export type LogNotification =
  | { readonly run: string }
  | { readonly places: readonly (readonly [atMs: number, id: string])[] };

/** Notifies followers of an agent's log of new entries. Best effort: the log itself is in the database. */
export interface LogNotifications {
  readonly publish: (agentId: string, notification: LogNotification) => void;
  readonly listen: (agentId: string, onNotification: (notification: LogNotification) => void) => () => void;
  readonly close: () => void;
}

export function createLocalLogNotifications(): LogNotifications {
  const listeners = new Map<string, Set<(notification: LogNotification) => void>>();
  return {
    publish: (agentId, notification) => listeners.get(agentId)?.forEach((listener) => void listener(notification)),
    listen: (agentId, onNotification) => {
      const all = listeners.get(agentId) ?? new Set();
      listeners.set(agentId, all.add(onNotification));
      return () => {
        all.delete(onNotification);
        if (all.size === 0) listeners.delete(agentId);
      };
    },
    close: () => listeners.clear(),
  };
}

const channelOf = (agentId: string) => `perch:logs:${agentId}`;

/** Reaches all processes that share Valkey. */
export function createValkeyLogNotifications(
  valkey: Redis,
  subscriptions: Subscriptions,
  logger: Logger,
): LogNotifications {
  return {
    publish: (agentId, notification) =>
      void valkey
        .publish(channelOf(agentId), JSON.stringify(notification))
        .catch((error: unknown) => logger.debug({ err: error, agentId }, "log notification publish failed")),
    listen: (agentId, onNotification) =>
      subscriptions.listen(channelOf(agentId), (message) => {
        if (message) onNotification(JSON.parse(message) as LogNotification);
      }),
    close: subscriptions.close,
  };
}
