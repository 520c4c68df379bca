import type { Redis } from "iovalkey";
import { batchPerTurn } from "../fairness/batch-per-turn.ts";
import { runIdOfPart, runPartId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import { createPendingReleases, type PendingRelease } from "./pending-releases.ts";
import { organisationKey, type RunSlots, slotKeys } from "./run-slots.ts";
import { renewal, type SlotChange, script, toArguments, tooLate, toReplies } from "./slot-script.ts";
import type { ValkeyState } from "./valkey-state.ts";

type Scripted = Redis & { changeSlots: (keys: number, ...args: (string | number)[]) => Promise<number[]> };

interface SharedSlotsDeps {
  readonly connection: Redis;
  readonly state: ValkeyState;
  /** Counts while Valkey is unavailable. */
  readonly local: RunSlots;
  readonly logger: Logger;
  readonly now: () => number;
}

const keyOfSlots = /^perch:runs:([0-9a-f-]{36})(?::|$)/;
const scanned = 1000;

/**
 * Shared by all nodes through Valkey; while Valkey is unavailable, each node counts its own runs. A take that is given up may still
 * be executed, and the worker's release may have been executed before it. So a take has a deadline on Valkey's clock, after which it
 * takes nothing, and a release follows each take that was given up, until one is confirmed after that deadline.
 */
export function createSharedSlots(deps: SharedSlotsDeps): RunSlots {
  const { state, local, logger, now } = deps;
  const valkey = deps.connection as Scripted;
  valkey.defineCommand("changeSlots", { lua: script });
  const change = batchPerTurn(async (changes: readonly SlotChange[]) => {
    const { keys, args } = toArguments(changes);
    const replies = toReplies(await valkey.changeSlots(keys.length, ...keys, ...args));
    if (replies[0]) state.answered(replies[0].atMs);
    return replies;
  });
  const send = ({ keys, id }: PendingRelease) =>
    change({ keys, id, leaseSeconds: 0, organisationRuns: 0, agentRuns: 0, deadlineMs: 0 });
  const releases = createPendingReleases({ state, send, logger });

  const take: RunSlots["take"] = async (request) => {
    if (!state.isUp()) return local.take(request);
    const { organisationRuns, agentRuns, leaseSeconds } = request;
    const [keys, id] = [slotKeys(request), runPartId(request)];
    const deadlineMs = state.deadlineMs();
    try {
      const { full } = await change({ keys, id, leaseSeconds, organisationRuns, agentRuns, deadlineMs });
      if (full === tooLate) return local.take(request);
      if (full === 0) releases.cancel(keys, id);
      return full === 0 ? undefined : full === 1 ? "organisation" : "agent";
    } catch (error) {
      state.failed(error);
      releases.add({ keys, id, countsAfterMs: deadlineMs }, true);
      return local.take(request);
    }
  };

  const releaseShared = async (release: PendingRelease): Promise<boolean> => {
    try {
      if (state.isUp()) {
        await send(release);
        return true;
      }
    } catch (error) {
      state.failed(error);
    }
    releases.add(release, false);
    return false;
  };

  return {
    take,
    renew: async (run) => {
      await local.renew(run);
      if (!state.isUp()) return;
      const [keys, id, deadlineMs] = [slotKeys(run), runPartId(run), state.deadlineMs()];
      await change({ keys, id, leaseSeconds: run.leaseSeconds, deadlineMs, ...renewal }).catch(state.failed);
    },
    release: async (run) => {
      const release = { keys: slotKeys(run), id: runPartId(run), countsAfterMs: 0 };
      const [isFree] = await Promise.all([releaseShared(release), local.release(run)]);
      return isFree;
    },
    releaseLocal: local.releaseLocal,
    listHeld: async (organisationId) => {
      const since = Math.floor(now() / 1000);
      const shared = await valkey
        .zrangebyscore(organisationKey(organisationId), since, "+inf")
        .catch((cause: unknown) => {
          throw new Error("Valkey did not say which runs are under way. Start it, and try again.", { cause });
        });
      return [...new Set([...shared.map(runIdOfPart), ...(await local.listHeld(organisationId))])];
    },
    isHeld: async (run) => {
      if (await local.isHeld(run)) return true;
      if (!state.isUp()) return false;
      const until = await valkey.zscore(slotKeys(run)[1], runPartId(run)).catch(() => null);
      return Number(until ?? 0) * 1000 > now();
    },
    scan: async (cursor) => {
      const [next, keys] = await valkey.scan(cursor, "MATCH", "perch:runs:*", "COUNT", scanned);
      const held = await Promise.all(
        keys.map(async (key) => ({
          key,
          organisationId: keyOfSlots.exec(key)?.[1] ?? "",
          parts: await valkey.zrange(key, 0, -1),
        })),
      );
      return { cursor: next, held: held.filter(({ organisationId }) => organisationId !== "") };
    },
    free: async ({ key, parts }) => void (await valkey.zrem(key, ...parts)),
    close: releases.close,
  };
}
