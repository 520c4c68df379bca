import { runIdOfPart, runPartId } from "../platform/ids.ts";

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
  /** A slot that is never released expires after this time. A turn has as much again for each turn of its session ahead of it. */
  readonly leaseSeconds: number;
}

/** For the record of a run whose time is over. */
const leaseMarginSeconds = 60;

/** The lease of a run that may take this long. */
export const leaseOf = (timeoutSeconds: number): Pick<SlotRequest, "leaseSeconds"> => ({
  leaseSeconds: timeoutSeconds + leaseMarginSeconds,
});

/** A key of slots in Valkey, and the parts of runs that hold one there. */
export interface HeldSlots {
  readonly key: string;
  readonly organisationId: string;
  readonly parts: readonly string[];
}

/** Limits on concurrent runs, for each organisation and each agent. */
export interface RunSlots {
  /** Undefined when a slot was taken; otherwise the owner of the limit that is reached. */
  readonly take: (request: SlotRequest) => Promise<"organisation" | "agent" | undefined>;
  /** The slot that the run holds has its whole lease again. Never rejects. */
  readonly renew: (run: SlotHolder & Pick<SlotRequest, "leaseSeconds">) => Promise<void>;
  /** Resolves to whether every node sees now that the slot is free. If not, the release is made up for. Never rejects. */
  readonly release: (run: SlotHolder) => Promise<boolean>;
  /** Releases a slot that only this process counted, which the worker cannot release. Cheap, and a no-op for shared slots. */
  readonly releaseLocal: (run: SlotHolder) => Promise<void>;
  /**
   * Ids of the organisation's runs that hold a slot now. Rejects while the list is incomplete, because the caller must
   * not miss a run.
   */
  readonly listHeld: (organisationId: string) => Promise<string[]>;
  /** Whether the run holds a slot now. */
  readonly isHeld: (run: SlotHolder) => Promise<boolean>;
  /** A page of all slots, and the cursor of the next one: "0" after the last. Only slots that processes share are listed. */
  readonly scan: (cursor: string) => Promise<{ readonly cursor: string; readonly held: readonly HeldSlots[] }>;
  /** Frees slots whose runs are not under way. */
  readonly free: (held: HeldSlots) => Promise<void>;
  /** Makes up for releases that Valkey has not confirmed, for two seconds at most. */
  readonly close: () => Promise<void>;
}

export const organisationKey = (organisationId: string): string => `perch:runs:${organisationId}`;

export function slotKeys({ organisationId, agentId, sessionId }: SlotHolder): readonly [string, string, string] {
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
  const release = async (run: SlotHolder): Promise<void> => {
    for (const owner of slotKeys(run)) {
      const runs = runsByKey.get(owner);
      runs?.delete(runPartId(run));
      if (runs?.size === 0) runsByKey.delete(owner);
    }
  };
  const take: RunSlots["take"] = async (request) => {
    const { organisationRuns, agentRuns, leaseSeconds } = request;
    const id = runPartId(request);
    const [allKey, ownKey, sessionKey] = slotKeys(request);
    const [all, own] = [activeRuns(allKey), activeRuns(ownKey)];
    if (!all.has(id) && all.size >= organisationRuns) return "organisation";
    if (!own.has(id) && own.size >= agentRuns) return "agent";
    const turns = sessionKey === "" ? new Map<string, number>() : activeRuns(sessionKey);
    const leaseMs = leaseSeconds * 1000;
    const held = turns.get(id);
    const until = held === undefined ? now() + (turns.size + 1) * leaseMs : Math.max(held, now() + leaseMs);
    for (const runs of [all, own, turns]) runs.set(id, until);
    return undefined;
  };
  return {
    take,
    renew: async (run) => {
      const id = runPartId(run);
      for (const runs of slotKeys(run).map(activeRuns)) if (runs.has(id)) runs.set(id, now() + run.leaseSeconds * 1000);
    },
    release: async (run) => {
      await release(run);
      return true;
    },
    releaseLocal: release,
    listHeld: async (organisationId) => [...activeRuns(organisationKey(organisationId)).keys()].map(runIdOfPart),
    isHeld: async (run) => (runsByKey.get(slotKeys(run)[1])?.get(runPartId(run)) ?? 0) > now(),
    // The slots of this process end with it, or with their leases.
    scan: async () => ({ cursor: "0", held: [] }),
    free: async () => undefined,
    close: async () => undefined,
  };
}
