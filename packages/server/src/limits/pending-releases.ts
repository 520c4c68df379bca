import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";
import type { SlotReply } from "./slot-script.ts";
import type { ValkeyState } from "./valkey-state.ts";

export interface PendingRelease {
  readonly keys: readonly [string, string, string];
  readonly id: string;
  /** On Valkey's clock: until then, a take that was given up may still be executed, so an earlier release does not count. 0: none. */
  readonly countsAfterMs: number;
}

export interface PendingReleases {
  /** Stores a release until Valkey has confirmed it. `sendNow` sends it right after this process's earlier commands. */
  readonly add: (release: PendingRelease, sendNow: boolean) => void;
  /** The run has taken its slot again. */
  readonly cancel: (keys: PendingRelease["keys"], id: string) => void;
  readonly close: () => Promise<void>;
}

interface PendingReleasesDeps {
  readonly state: Pick<ValkeyState, "isUp" | "failed" | "onRecovered">;
  readonly send: (release: PendingRelease) => Promise<SlotReply>;
  readonly logger: Logger;
}

/** Some seconds of the runs of a busy process. Releases beyond this number are left to reconcile. */
const maxPending = 50_000;
const sentTogether = 128;
const retryAfterMs = 250;
const closeWithinMs = 2000;

/** A release that could not be made, or that Valkey may execute before the take that it undoes, is made again until it counts. */
export function createPendingReleases(deps: PendingReleasesDeps): PendingReleases {
  const { state, send, logger } = deps;
  const pending = new Map<string, PendingRelease>();
  let flushing: Promise<void> | undefined;

  const nameOf = ({ keys, id }: Pick<PendingRelease, "keys" | "id">): string => `${keys[1]} ${id}`;

  const sendOne = async (release: PendingRelease): Promise<void> => {
    const { atMs } = await send(release);
    if (atMs > release.countsAfterMs && pending.get(nameOf(release)) === release) pending.delete(nameOf(release));
  };

  const sendAll = async (): Promise<void> => {
    const all = [...pending.values()];
    for (let at = 0; at < all.length; at += sentTogether)
      await Promise.all(all.slice(at, at + sentTogether).map(sendOne));
  };

  const flush = async (): Promise<void> => {
    try {
      while (pending.size > 0 && state.isUp()) {
        await sendAll();
        if (pending.size > 0) await sleep(retryAfterMs, undefined, { ref: false });
      }
    } catch (error) {
      // The next recovery flushes again.
      state.failed(error);
    }
    flushing = undefined;
  };

  const startFlush = (): void => {
    if (pending.size > 0 && state.isUp()) flushing ??= flush();
  };
  state.onRecovered(startFlush);

  const forgetOldest = (): void => {
    const [oldest] = pending.keys();
    if (pending.size < maxPending || oldest === undefined) return;
    pending.delete(oldest);
    logger.debug("release of a run slot forgotten, reconcile frees the slot");
  };

  return {
    add: (release, sendNow) => {
      const name = nameOf(release);
      const earlier = pending.get(name);
      // The take that it undoes may still be executed, so the earlier one counts.
      if (earlier && earlier.countsAfterMs > release.countsAfterMs) return;
      forgetOldest();
      pending.set(name, release);
      if (sendNow) void sendOne(release).catch(() => undefined);
      startFlush();
    },
    cancel: (keys, id) => {
      if (pending.size > 0) pending.delete(nameOf({ keys, id }));
    },
    close: async () => {
      startFlush();
      await Promise.race([flushing, sleep(closeWithinMs, undefined, { ref: false })]);
    },
  };
}
