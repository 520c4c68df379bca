import type { Redis } from "iovalkey";
import { batchPerTurn } from "../platform/batch-per-turn.ts";
import { type SlotChange, script, toArguments } from "./slot-script.ts";

export interface SlotRequest {
  readonly organisationId: string;
  readonly agentId: string;
  readonly id: string;
  readonly organisationRuns: number;
  readonly agentRuns: number;
  /** A slot that is never released expires after this time. */
  readonly leaseSeconds: number;
}

/** Limits on concurrent runs, for each organisation and each agent. */
export interface RunSlots {
  /** Undefined when a slot was taken; otherwise whose limit is reached. */
  readonly take: (request: SlotRequest) => Promise<"organisation" | "agent" | undefined>;
  /** Resolves when every node sees that the slot is free, or when it can only expire. Never rejects. */
  readonly release: (organisationId: string, agentId: string, id: string) => Promise<void>;
  /** Releases a slot that only this process counted, which the worker cannot release. Cheap, and a no-op for shared slots. */
  readonly releaseLocal: (organisationId: string, agentId: string, id: string) => Promise<void>;
}

const slotKeys = (organisationId: string, agentId: string) =>
  [`perch:runs:${organisationId}`, `perch:runs:${organisationId}:${agentId}`] as const;

export function createLocalSlots(now: () => number): RunSlots {
  const runsByKey = new Map<string, Map<string, number>>();
  const activeRuns = (owner: string): Map<string, number> => {
    const runs = runsByKey.get(owner) ?? new Map<string, number>();
    runsByKey.set(owner, runs);
    for (const [id, until] of runs) if (until <= now()) runs.delete(id);
    return runs;
  };
  const release: RunSlots["release"] = async (organisationId, agentId, id) => {
    for (const owner of slotKeys(organisationId, agentId)) {
      const runs = runsByKey.get(owner);
      runs?.delete(id);
      if (runs?.size === 0) runsByKey.delete(owner);
    }
  };
  return {
    take: async ({ organisationId, agentId, id, organisationRuns, agentRuns, leaseSeconds }) => {
      const [all, own] = slotKeys(organisationId, agentId).map(activeRuns);
      if (!all || !own) return undefined;
      if (!all.has(id) && all.size >= organisationRuns) return "organisation";
      if (!own.has(id) && own.size >= agentRuns) return "agent";
      for (const runs of [all, own]) runs.set(id, now() + leaseSeconds * 1000);
      return undefined;
    },
    release,
    releaseLocal: release,
  };
}

type Scripted = Redis & { changeSlots: (keys: number, ...args: (string | number)[]) => Promise<number[]> };

/** Shared by all nodes through Valkey; while Valkey is unavailable, each node counts its own runs. */
export function createSharedSlots(connection: Redis, local: RunSlots): RunSlots {
  const valkey = connection as Scripted;
  valkey.defineCommand("changeSlots", { lua: script });
  const change = batchPerTurn((changes: readonly SlotChange[]) => {
    const { keys, args } = toArguments(changes);
    return valkey.changeSlots(keys.length, ...keys, ...args);
  });
  return {
    take: async (request) => {
      const { organisationId, agentId, id, organisationRuns, agentRuns, leaseSeconds } = request;
      const keys = slotKeys(organisationId, agentId);
      try {
        const full = await change({ keys, id, leaseSeconds, organisationRuns, agentRuns });
        return full === 0 ? undefined : full === 1 ? "organisation" : "agent";
      } catch {
        return local.take(request);
      }
    },
    release: async (organisationId, agentId, id) => {
      const keys = slotKeys(organisationId, agentId);
      const released = change({ keys, id, leaseSeconds: 0, organisationRuns: 0, agentRuns: 0 });
      // A slot that cannot be released now expires with its lease.
      await Promise.all([local.release(organisationId, agentId, id), released.catch(() => undefined)]);
    },
    releaseLocal: local.releaseLocal,
  };
}
