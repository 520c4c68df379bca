import type { EngineAdmin, EngineDeployment } from "./engine-admin.ts";
import { parseAddress } from "./release-address.ts";
import { agentRuns } from "./services.ts";

/** A run may have been given to an address shortly before another took over, and be counted for it only a little later. */
const settleMs = 30_000;
const retireAfterMs = 24 * 3_600_000;

export interface KnownDeployment extends EngineDeployment {
  /** Runs, and other invocations, that can end only there. */
  readonly runs: number;
}

export async function listKnownDeployments(admin: EngineAdmin): Promise<KnownDeployment[]> {
  // Counted afterwards, so that runs that began in the meantime are included.
  const deployments = await admin.listDeployments();
  const bound = await admin.countBound();
  return deployments.map((deployment) => ({ ...deployment, runs: bound.get(deployment.id) ?? 0 }));
}

/** Services of a release that the active one does not know, such as new ones, do not count. */
export const takesNewRuns = ({ current }: Pick<EngineDeployment, "current">): boolean => current.includes(agentRuns);

/** Why the engine must not forget this address yet, or undefined if it may. */
export function whyKept(
  deployment: KnownDeployment,
  all: readonly KnownDeployment[],
  nowMs: number,
): string | undefined {
  if (takesNewRuns(deployment)) return "It takes new runs. Activate another release first.";
  if (deployment.runs > 0) return `${deployment.runs} of its runs have not ended. Keep its workers until they have.`;
  const newestMs = Math.max(...all.filter(takesNewRuns).map(({ createdAt }) => +createdAt));
  const waitMs = newestMs + settleMs - nowMs;
  return waitMs > 0 ? `Another release took over just now. Try again in ${Math.ceil(waitMs / 1000)} s.` : undefined;
}

interface RetireOptions {
  readonly admin: EngineAdmin;
  /** Newest first. */
  readonly turns: readonly { readonly turn: number; readonly activatedAt: Date }[];
  readonly nowMs: number;
}

/** Makes the engine forget the addresses of earlier turns that ended a day ago and have no runs. Returns those addresses. */
export async function retireOldReleases({ admin, turns, nowMs }: RetireOptions): Promise<string[]> {
  const all = await listKnownDeployments(admin);
  const endedMs = (turn: number): number =>
    turns.findLast((each) => each.turn > turn)?.activatedAt.getTime() ?? Number.POSITIVE_INFINITY;
  const old = all.filter((deployment) => {
    const address = parseAddress(deployment.uri);
    const isOver = address !== undefined && nowMs - endedMs(address.turn) > retireAfterMs;
    return isOver && whyKept(deployment, all, nowMs) === undefined;
  });
  for (const { id } of old) await admin.remove(id);
  return old.map(({ uri }) => uri);
}
