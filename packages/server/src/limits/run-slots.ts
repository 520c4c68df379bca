import type { Redis } from "iovalkey";

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

const script = `
local now = tonumber(redis.call('TIME')[1])
for i = 1, 2 do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
  if not redis.call('ZSCORE', KEYS[i], ARGV[1]) and redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[i + 2]) then return i end
end
for i = 1, 2 do
  redis.call('ZADD', KEYS[i], now + ARGV[2], ARGV[1])
  redis.call('EXPIRE', KEYS[i], ARGV[2] + 60)
end
return 0`;

type Scripted = Redis & { takeSlot: (...args: (string | number)[]) => Promise<number> };

/** Shared by all nodes through Valkey; while Valkey is unavailable, each node counts its own runs. */
export function createSharedSlots(valkey: Redis, local: RunSlots): RunSlots {
  valkey.defineCommand("takeSlot", { lua: script, numberOfKeys: 2 });
  return {
    take: async (request) => {
      const { organisationId, agentId, id, organisationRuns, agentRuns, leaseSeconds } = request;
      try {
        const full = await (valkey as Scripted).takeSlot(
          ...slotKeys(organisationId, agentId),
          id,
          leaseSeconds,
          organisationRuns,
          agentRuns,
        );
        return full === 0 ? undefined : full === 1 ? "organisation" : "agent";
      } catch {
        return local.take(request);
      }
    },
    release: async (organisationId, agentId, id) => {
      await local.release(organisationId, agentId, id);
      // Not awaited: a slot that cannot be released now expires with its lease.
      for (const owner of slotKeys(organisationId, agentId)) valkey.zrem(owner, id).catch(() => undefined);
    },
    releaseLocal: local.releaseLocal,
  };
}
