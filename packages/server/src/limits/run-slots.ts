import { maxTimeoutSeconds } from "@perch/contract";
import type { Redis } from "iovalkey";
import { batchPerTurn } from "../platform/batch-per-turn.ts";
import { runIdOfPart, runPartId } from "../platform/run-part.ts";
import { type SlotChange, script, toArguments } from "./slot-script.ts";

/** The run that holds a slot. */
export interface SlotHolder {
  readonly organisationId: string;
  readonly agentId: string;
  readonly id: string;
  /** Null: the run waits for no other. */
  readonly sessionId?: string | null;
  /** How often the run has waited for a person: each part of it has a slot of its own, and releases no other's. */
  readonly cut?: number | undefined;
}

export interface SlotRequest extends SlotHolder {
  readonly organisationRuns: number;
  readonly agentRuns: number;
  /** A slot that is never released expires after this time, and later for a turn that waits for others of its session. */
  readonly leaseSeconds: number;
  /** Of any run: how long a turn may wait for each one before it. */
  readonly maxLeaseSeconds: number;
}

/** For the record of a run whose time is over. */
const leaseMarginSeconds = 60;

/** The lease of a run that may take this long. */
export const leaseOf = (timeoutSeconds: number): Pick<SlotRequest, "leaseSeconds" | "maxLeaseSeconds"> => ({
  leaseSeconds: timeoutSeconds + leaseMarginSeconds,
  maxLeaseSeconds: maxTimeoutSeconds + leaseMarginSeconds,
});

/** Limits on concurrent runs, for each organisation and each agent. */
export interface RunSlots {
  /** Undefined when a slot was taken; otherwise whose limit is reached. */
  readonly take: (request: SlotRequest) => Promise<"organisation" | "agent" | undefined>;
  /** Resolves when every node sees that the slot is free, or when it can only expire. Never rejects. */
  readonly release: (run: SlotHolder) => Promise<void>;
  /** Releases a slot that only this process counted, which the worker cannot release. Cheap, and a no-op for shared slots. */
  readonly releaseLocal: (run: SlotHolder) => Promise<void>;
  /** Ids of the organisation's runs that hold a slot now. Rejects while they are not known: whoever asks must not miss one. */
  readonly listHeld: (organisationId: string) => Promise<string[]>;
  /** Whether the run holds a slot now. */
  readonly isHeld: (run: SlotHolder) => Promise<boolean>;
}

const organisationKey = (organisationId: string): string => `perch:runs:${organisationId}`;

function slotKeys({ organisationId, agentId, sessionId }: SlotHolder): readonly [string, string, string] {
  const all = organisationKey(organisationId);
  const own = `${all}:${agentId}`;
  return [all, own, typeof sessionId === "string" ? `${own}:${sessionId}` : ""];
}

export function createLocalSlots(now: () => number): RunSlots {
  const runsByKey = new Map<string, Map<string, number>>();
  const activeRuns = (owner: string): Map<string, number> => {
    const runs = runsByKey.get(owner) ?? new Map<string, number>();
    runsByKey.set(owner, runs);
    for (const [id, until] of runs) if (until <= now()) runs.delete(id);
    return runs;
  };
  const release: RunSlots["release"] = async (run) => {
    for (const owner of slotKeys(run)) {
      const runs = runsByKey.get(owner);
      runs?.delete(runPartId(run));
      if (runs?.size === 0) runsByKey.delete(owner);
    }
  };
  return {
    take: async (request) => {
      const { organisationRuns, agentRuns, leaseSeconds, maxLeaseSeconds } = request;
      const id = runPartId(request);
      const [allKey, ownKey, sessionKey] = slotKeys(request);
      const [all, own] = [activeRuns(allKey), activeRuns(ownKey)];
      if (!all.has(id) && all.size >= organisationRuns) return "organisation";
      if (!own.has(id) && own.size >= agentRuns) return "agent";
      const turns = sessionKey === "" ? new Map<string, number>() : activeRuns(sessionKey);
      const ahead = turns.has(id) ? turns.size - 1 : turns.size;
      for (const runs of [all, own, turns]) runs.set(id, now() + (leaseSeconds + ahead * maxLeaseSeconds) * 1000);
      return undefined;
    },
    release,
    releaseLocal: release,
    listHeld: async (organisationId) => [...activeRuns(organisationKey(organisationId)).keys()].map(runIdOfPart),
    isHeld: async (run) => (runsByKey.get(slotKeys(run)[1])?.get(runPartId(run)) ?? 0) > now(),
  };
}

type Scripted = Redis & { changeSlots: (keys: number, ...args: (string | number)[]) => Promise<number[]> };

/** Shared by all nodes through Valkey; while Valkey is unavailable, each node counts its own runs. */
export function createSharedSlots(connection: Redis, local: RunSlots, now: () => number): RunSlots {
  const valkey = connection as Scripted;
  valkey.defineCommand("changeSlots", { lua: script });
  const change = batchPerTurn((changes: readonly SlotChange[]) => {
    const { keys, args } = toArguments(changes);
    return valkey.changeSlots(keys.length, ...keys, ...args);
  });
  return {
    take: async (request) => {
      const { organisationRuns, agentRuns, leaseSeconds, maxLeaseSeconds } = request;
      const id = runPartId(request);
      const keys = slotKeys(request);
      try {
        const full = await change({ keys, id, leaseSeconds, maxLeaseSeconds, organisationRuns, agentRuns });
        return full === 0 ? undefined : full === 1 ? "organisation" : "agent";
      } catch {
        return local.take(request);
      }
    },
    release: async (run) => {
      const none = { leaseSeconds: 0, maxLeaseSeconds: 0, organisationRuns: 0, agentRuns: 0 };
      const released = change({ keys: slotKeys(run), id: runPartId(run), ...none });
      // A slot that cannot be released now expires with its lease.
      await Promise.all([local.release(run), released.catch(() => undefined)]);
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
      const until = await valkey.zscore(slotKeys(run)[1], runPartId(run)).catch(() => null);
      return Number(until ?? 0) * 1000 > now();
    },
  };
}
