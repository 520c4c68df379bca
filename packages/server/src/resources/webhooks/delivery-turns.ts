import { createLruCache } from "../../platform/lru-cache.ts";

/** When deferred deliveries come back. */
export interface DeliveryTurns {
  /** The next turn of this organisation, as a wait from now. */
  readonly nextWaitMs: (organisationId: string) => number;
  /** A delivery of this organisation took so long, while so many were under way. */
  readonly observe: (organisationId: string, durationMs: number, underWay: number) => void;
}

interface Turn {
  atMs: number;
  /** How often one of the organisation's deliveries ends. */
  paceMs: number;
}

const initialPaceMs = 5;
/** One attempt that hangs must not delay the others for long. */
const maxPaceMs = 100;
/** How much the latest delivery counts. */
const weight = 0.2;
const maxWaitMs = 60_000;
const maxOrganisations = 10_000;

/**
 * Gives deferred deliveries turns one after another, at the pace at which the organisation's deliveries end. A delivery is so
 * deferred a few times, however many wait: returning all at once, they would keep the engine busy with nothing but deferring.
 */
export function createDeliveryTurns(now: () => number): DeliveryTurns {
  const turns = createLruCache<string, Turn>(maxOrganisations);
  const findOrCreate = (organisationId: string): Turn => {
    const existing = turns.get(organisationId);
    if (existing) return existing;
    const created = { atMs: 0, paceMs: initialPaceMs };
    turns.set(organisationId, created);
    return created;
  };
  return {
    nextWaitMs: (organisationId) => {
      const turn = findOrCreate(organisationId);
      // The wait has a maximum, so that a receiver that is quick again soon gets its events.
      turn.atMs = Math.min(Math.max(turn.atMs, now()) + turn.paceMs, now() + maxWaitMs);
      return turn.atMs - now();
    },
    observe: (organisationId, durationMs, underWay) => {
      const turn = findOrCreate(organisationId);
      const paceMs = Math.min(durationMs / Math.max(1, underWay), maxPaceMs);
      turn.paceMs = turn.paceMs * (1 - weight) + paceMs * weight;
    },
  };
}
