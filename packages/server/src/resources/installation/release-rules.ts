import type { InstalledRelease } from "@perch/contract";
import type { Turn } from "../../db/releases.ts";
import { parseAddress } from "../../engine/release-address.ts";
import { type KnownDeployment, takesNewRuns, whyKept } from "../../engine/retire-release.ts";

const stateOf = (
  deployment: KnownDeployment,
  all: readonly KnownDeployment[],
  nowMs: number,
): InstalledRelease["state"] => {
  if (takesNewRuns(deployment)) return "takes_new_runs";
  if (deployment.runs > 0) return "ends_its_runs";
  return whyKept(deployment, all, nowMs) === undefined ? "can_be_retired" : "superseded";
};

function toRelease(
  deployment: KnownDeployment,
  all: readonly KnownDeployment[],
  turns: readonly Turn[],
  nowMs: number,
): InstalledRelease {
  const address = parseAddress(deployment.uri);
  const activatedAt = turns.find(({ turn }) => turn === address?.turn)?.activatedAt ?? deployment.createdAt;
  return {
    release: address?.release ?? null,
    turn: address?.turn ?? null,
    since: activatedAt.toISOString(),
    runs: deployment.runs,
    state: stateOf(deployment, all, nowMs),
    deployment_id: deployment.id,
    address: deployment.uri,
  };
}

/** The active release, if none of its workers has registered yet. */
const withoutWorker = (active: Turn | undefined, releases: readonly InstalledRelease[]): InstalledRelease[] =>
  active === undefined || releases.some(({ turn }) => turn === active.turn)
    ? []
    : [
        {
          release: active.release,
          turn: active.turn,
          since: active.activatedAt.toISOString(),
          runs: 0,
          state: "has_no_worker_yet",
          deployment_id: null,
          address: null,
        },
      ];

/** The releases that the engine knows and the active one, newest turn first. `turns` are newest first, too. */
export function toReleases(
  deployments: readonly KnownDeployment[],
  turns: readonly Turn[],
  nowMs: number,
): InstalledRelease[] {
  const known = deployments
    .map((each) => toRelease(each, deployments, turns, nowMs))
    .sort((a, b) => (b.turn ?? 0) - (a.turn ?? 0) || b.since.localeCompare(a.since));
  return [...withoutWorker(turns[0], known), ...known];
}
