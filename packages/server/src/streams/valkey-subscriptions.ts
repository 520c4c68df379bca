import type { Redis } from "iovalkey";
import type { Logger } from "../platform/logger.ts";

export interface Subscriptions {
  /** Calls back on every message, and whenever messages may have been missed. Returns how to stop that. */
  readonly listen: (channel: string, wake: (message?: string) => void) => () => void;
  readonly isListening: () => boolean;
  /** Wakes all, for the last time. Closing twice is closing once: several users share it. */
  readonly close: () => void;
}

/**
 * A connection for subscriptions. Resubscribing is done here, not by iovalkey: it forgets channels when the connection breaks again
 * before they are confirmed, and its error is then unhandled. A connection that does not answer a ping within 3 s is reconnected.
 */
export function connectSubscriber(valkey: Redis, logger: Logger): Redis {
  const subscriber = valkey.duplicate({ autoResubscribe: false, commandTimeout: 10_000, socketTimeout: 3000 });
  subscriber.on("error", (error) => logger.debug({ err: error }, "valkey subscriber error"));
  return subscriber;
}

const channelsInOneCall = 1000;
const pingEveryMs = 2000;

/** One connection for all readers of this process. */
export function createSubscriptions(subscriber: Redis): Subscriptions {
  const listeners = new Map<string, Set<(message?: string) => void>>();
  const wake = (channel: string, message?: string): void => {
    for (const listener of listeners.get(channel) ?? []) listener(message);
  };
  // Messages published before the subscription was confirmed were missed: listeners must read again.
  const subscribe = (channels: readonly string[]): void => {
    subscriber.subscribe(...channels).then(
      () => channels.forEach((channel) => void wake(channel)),
      () => undefined,
    );
  };
  const isListening = () => subscriber.status === "ready";

  subscriber.on("message", wake);
  subscriber.on("ready", () => {
    const channels = [...listeners.keys()];
    for (let i = 0; i < channels.length; i += channelsInOneCall) subscribe(channels.slice(i, i + channelsInOneCall));
  });
  subscriber.on("close", () => [...listeners.keys()].forEach((channel) => void wake(channel)));
  // A ping finds a half-open connection: without an answer it is closed and reconnected.
  const ping = setInterval(() => {
    if (isListening() && listeners.size > 0) subscriber.ping().catch(() => undefined);
  }, pingEveryMs).unref();

  return {
    listen: (channel, listener) => {
      const present = listeners.get(channel);
      if (present) present.add(listener);
      else {
        listeners.set(channel, new Set([listener]));
        if (isListening()) subscribe([channel]);
      }
      return () => {
        const all = listeners.get(channel);
        if (!all?.delete(listener) || all.size > 0) return;
        listeners.delete(channel);
        if (isListening()) subscriber.unsubscribe(channel).catch(() => undefined);
      };
    },
    isListening,
    close: () => {
      clearInterval(ping);
      subscriber.disconnect();
      for (const channel of listeners.keys()) wake(channel);
    },
  };
}
