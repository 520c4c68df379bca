import type { Deployment } from "@perch/sdk";
import { granularityFor } from "../parts/granularity.ts";

/** The time in which a deployment was a canary, beside the one that was live then. */
export interface Trial {
  readonly canary: Deployment;
  readonly live: Deployment | undefined;
  readonly startedAt: string;
  /** Null while it is a canary. */
  readonly endedAt: string | null;
  /** The deployment was promoted, so its later runs are not canary runs. */
  readonly isPromoted: boolean;
}

/**
 * The trial of a current or former canary. A promoted canary's own record does not show when it was promoted; the end of the deployment
 * beside it does.
 */
export function trialOf(deployment: Deployment, beside: Deployment | undefined): Trial | undefined {
  const { activated_at, ended_at, traffic_percent } = deployment;
  if (activated_at === null) return undefined;
  const common = { canary: deployment, live: beside, startedAt: activated_at };
  if (traffic_percent < 100) return { ...common, endedAt: ended_at, isPromoted: false };
  return beside && { ...common, endedAt: beside.ended_at, isPromoted: true };
}

/** The range includes some time before the canary, to show normal values, and some time after it, to show that it is over. */
const marginMs = 600_000;

/** More intervals would have too few runs each for a meaningful rate. */
const maxIntervals = 96;

export const rangeOf = ({ startedAt, endedAt, isPromoted }: Trial, now: number) => {
  const end = endedAt === null ? now : Math.min(now, Date.parse(endedAt) + (isPromoted ? 0 : marginMs));
  const start = Date.parse(startedAt) - marginMs;
  return {
    granularity: granularityFor(end - start, maxIntervals),
    start_time: new Date(start).toISOString(),
    end_time: new Date(end).toISOString(),
  };
};

/** The range of its charts is complete. When it ends, its last runs are not in the metrics yet. */
export const isOver = ({ endedAt }: Trial, now: number): boolean =>
  endedAt !== null && now > Date.parse(endedAt) + marginMs;
