import type { Redis } from "iovalkey";
import { batchPerTurn } from "../../fairness/batch-per-turn.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Subscriptions } from "../../streams/valkey-subscriptions.ts";

/**
 * What was added: the lines that a run wrote, those after its line `after`, or single entries by their position. Sent as JSON between
 * releases: keep the names.
 */
export type LogNotification =
  | { readonly run: string; readonly after?: number }
  | { readonly places: readonly (readonly [atMs: number, id: string])[] };

/** Called without a notification whenever some may have been missed: the log must be read again. */
type OnNotification = (notification?: LogNotification) => void;

/** Notifies followers of an agent's log of new entries. Best effort: the log itself is in the database. */
export interface LogNotifications {
  readonly publish: (agentId: string, notification: LogNotification) => void;
  readonly listen: (agentId: string, onNotification: OnNotification) => () => void;
  readonly close: () => void;
}

export function createLocalLogNotifications(): LogNotifications {
  const listeners = new Map<string, Set<OnNotification>>();
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

/** Publishes a batch in one call. ARGV: channel and message, for each. The reply: how many received it, for each. */
const script = `
local receivers = {}
for i = 1, #ARGV, 2 do receivers[#receivers + 1] = redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end
return receivers`;

type Scripted = Redis & { publishAll: (keys: 0, ...args: string[]) => Promise<number[]> };

const channelOf = (agentId: string) => `perch:logs:${agentId}`;

/** Reaches all processes that share Valkey. */
export function createValkeyLogNotifications(
  connection: Redis,
  subscriptions: Subscriptions,
  logger: Logger,
): LogNotifications {
  const valkey = connection as Scripted;
  valkey.defineCommand("publishAll", { lua: script });
  const publish = batchPerTurn((messages: readonly (readonly [channel: string, message: string])[]) =>
    valkey.publishAll(0, ...messages.flat()),
  );
  return {
    publish: (agentId, notification) =>
      void publish([channelOf(agentId), JSON.stringify(notification)]).catch((error: unknown) =>
        logger.debug({ err: error, agentId }, "log notification publish failed"),
      ),
    listen: (agentId, onNotification) =>
      subscriptions.listen(channelOf(agentId), (message) =>
        onNotification(message === undefined ? undefined : (JSON.parse(message) as LogNotification)),
      ),
    close: subscriptions.close,
  };
}
