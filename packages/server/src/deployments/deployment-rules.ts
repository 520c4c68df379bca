import { createHash } from "node:crypto";
import type { ArmFigures, DeploymentStatus, Guards } from "@perch/contract";

/** The states of a deployment and what leads from one to the other. ARCHITECTURE.md shows the same table as a picture. */
export const deploymentTransitions = {
  activate: { from: "pending", to: "active" },
  fail: { from: "pending", to: "failed" },
  supersede: { from: "active", to: "superseded" },
  roll_back: { from: "active", to: "rolled_back" },
} as const satisfies Record<string, { from: DeploymentStatus; to: DeploymentStatus }>;

/** What one request gets: a version, and the deployment that made it live. */
export interface Arm<Definition> {
  readonly deploymentId: string;
  readonly version: string;
  readonly trafficPercent: number;
  readonly definition: Definition;
  /** Whether its runs are watched beside those of the other. */
  readonly guarded: boolean;
}

export interface Serving<Definition> {
  readonly live: Arm<Definition>;
  readonly canary: Arm<Definition> | undefined;
}

/** From 0 to 100, the same for one person and one canary on every node, and as good as random over many. */
const placeOf = (canaryId: string, who: string): number =>
  (createHash("sha256").update(`${canaryId} ${who}`).digest().readUInt32BE(0) / 2 ** 32) * 100;

/** A session stays where it is, also when the share grows; without one a user does, and without either it is chance. */
export function armFor<Definition>(
  { live, canary }: Serving<Definition>,
  { sessionId, userId }: { readonly sessionId: string | null; readonly userId: string | null },
  random: number,
): Arm<Definition> {
  if (!canary) return live;
  const who = sessionId === null ? (userId === null ? undefined : `user ${userId}`) : `session ${sessionId}`;
  const place = who === undefined ? random * 100 : placeOf(canary.deploymentId, who);
  return place < canary.trafficPercent ? canary : live;
}

const percent = (rate: number) => `${Math.round(rate * 1000) / 10} %`;
const ratioOf = (canary: number | null, live: number | null): number | undefined =>
  canary === null || live === null || live <= 0 ? undefined : canary / live;

/** Which guard a canary breaks, in words and figures; undefined when none. */
export function brokenGuard(guards: Guards, canary: ArmFigures, live: ArmFigures): string | undefined {
  const { max_error_rate_increase, max_p95_ratio, max_mean_tokens_ratio } = guards;
  const of = `of ${canary.runs} runs, against`;
  // Rounded, or 0.8 would lie more than 0.1 above 0.7.
  const increase = Math.round((canary.error_rate - live.error_rate) * 1e6) / 1e6;
  if (max_error_rate_increase !== undefined && increase > max_error_rate_increase)
    return `Error rate ${percent(canary.error_rate)} ${of} ${percent(live.error_rate)} of ${live.runs} (max_error_rate_increase ${max_error_rate_increase}).`;
  const slower = ratioOf(canary.p95_ms, live.p95_ms);
  if (max_p95_ratio !== undefined && slower !== undefined && slower > max_p95_ratio)
    return `95th percentile ${canary.p95_ms} ms ${of} ${live.p95_ms} ms of ${live.runs} (max_p95_ratio ${max_p95_ratio}).`;
  const dearer = ratioOf(canary.mean_tokens, live.mean_tokens);
  if (max_mean_tokens_ratio !== undefined && dearer !== undefined && dearer > max_mean_tokens_ratio)
    return `Mean tokens ${canary.mean_tokens} ${of} ${live.mean_tokens} of ${live.runs} (max_mean_tokens_ratio ${max_mean_tokens_ratio}).`;
  return undefined;
}

export const isEnoughToJudge = ({ min_runs }: Guards, canary: ArmFigures, live: ArmFigures): boolean =>
  canary.runs >= min_runs && live.runs >= min_runs;

/** Often enough to act within a short window, seldom enough to cost nothing over a long one. */
export const checkEveryMs = ({ window_seconds }: Guards): number =>
  Math.min(Math.max(window_seconds * 50, 1000), 30_000);
