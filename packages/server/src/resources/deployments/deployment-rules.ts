import { createHash } from "node:crypto";
import type { DeploymentStats, DeploymentStatus, Guards } from "@perch/contract";
import type { Transitions } from "../transitions.ts";

/** The states of a deployment. A rollback ends the live one, and restores a version with a record that is active at once. */
export const deploymentTransitions = {
  create: { from: [null], to: "pending" },
  restore: { from: [null], to: "active" },
  activate: { from: ["pending"], to: "active" },
  fail: { from: ["pending"], to: "failed" },
  supersede: { from: ["active"], to: "superseded" },
  roll_back: { from: ["active"], to: "rolled_back" },
  /** The oldest are deleted if an agent has more than its tier allows. */
  delete: { from: ["failed", "superseded", "rolled_back"], to: null },
} as const satisfies Transitions<DeploymentStatus>;

/** The version that serves a request, and the deployment that made it live. */
export interface Arm<Definition> {
  readonly deploymentId: string;
  readonly version: string;
  readonly trafficPercent: number;
  readonly definition: Definition;
  /** Whether guards compare its runs with the live deployment's. */
  readonly guarded: boolean;
}

export interface Serving<Definition> {
  readonly live: Arm<Definition>;
  readonly canary: Arm<Definition> | undefined;
}

/** From 0 to 100: uniform over subjects, and the same on every node for one subject and one canary. */
const bucketOf = (canaryId: string, subject: string): number =>
  (createHash("sha256").update(`${canaryId} ${subject}`).digest().readUInt32BE(0) / 2 ** 32) * 100;

/** Sticky by session, else by user, else random. Subjects on the canary stay there when its share grows. */
export function chooseArm<Definition>(
  { live, canary }: Serving<Definition>,
  { sessionId, userId }: { readonly sessionId: string | null; readonly userId: string | null },
  random: number,
): Arm<Definition> {
  if (!canary) return live;
  const subject = sessionId === null ? (userId === null ? undefined : `user ${userId}`) : `session ${sessionId}`;
  const bucket = subject === undefined ? random * 100 : bucketOf(canary.deploymentId, subject);
  return bucket < canary.trafficPercent ? canary : live;
}

const percent = (rate: number) => `${Math.round(rate * 1000) / 10} %`;
const ratioOf = (canary: number | null, live: number | null): number | undefined =>
  canary === null || live === null || live <= 0 ? undefined : canary / live;

/** The guard that a canary breaks, with the numbers, as a message; undefined when none. */
export function findBrokenGuard(guards: Guards, canary: DeploymentStats, live: DeploymentStats): string | undefined {
  const { max_error_rate_increase, max_p95_ratio, max_mean_tokens_ratio } = guards;
  const of = `of ${canary.runs} runs, against`;
  // Rounded, or 0.8 would lie more than 0.1 above 0.7.
  const increase = Math.round((canary.error_rate - live.error_rate) * 1e6) / 1e6;
  if (max_error_rate_increase !== undefined && increase > max_error_rate_increase)
    return `Error rate ${percent(canary.error_rate)} ${of} ${percent(live.error_rate)} of ${live.runs} (max_error_rate_increase ${max_error_rate_increase}).`;
  const p95Ratio = ratioOf(canary.p95_ms, live.p95_ms);
  if (max_p95_ratio !== undefined && p95Ratio !== undefined && p95Ratio > max_p95_ratio)
    return `95th percentile ${canary.p95_ms} ms ${of} ${live.p95_ms} ms of ${live.runs} (max_p95_ratio ${max_p95_ratio}).`;
  const tokensRatio = ratioOf(canary.mean_tokens, live.mean_tokens);
  if (max_mean_tokens_ratio !== undefined && tokensRatio !== undefined && tokensRatio > max_mean_tokens_ratio)
    return `Mean tokens ${canary.mean_tokens} ${of} ${live.mean_tokens} of ${live.runs} (max_mean_tokens_ratio ${max_mean_tokens_ratio}).`;
  return undefined;
}

export const hasEnoughRuns = ({ min_runs }: Guards, canary: DeploymentStats, live: DeploymentStats): boolean =>
  canary.runs >= min_runs && live.runs >= min_runs;

/** A twentieth of the window, between one second and half a minute. */
export const checkIntervalMs = ({ window_seconds }: Guards): number =>
  Math.min(Math.max(window_seconds * 50, 1000), 30_000);
