import { ConflictError, type Perch } from "@perch/sdk";
import { perchCommand } from "../perch-command.ts";

/** The version that an environment answers with. */
export interface LiveVersion {
  readonly environment: string;
  readonly version: string;
  /** Less than 100 for a canary. */
  readonly traffic_percent: number;
  /** The version and the draft are the same definition. */
  readonly same_as_draft: boolean;
}

async function isSameAsDraft(perch: Perch, agent: string, version: string): Promise<boolean> {
  try {
    return (await perch.versions.diff(agent, version, { to: "draft" })).same;
  } catch (error) {
    // Too large to compare. Saying "deploy it" too often is better than too rarely.
    if (error instanceof ConflictError) return false;
    throw error;
  }
}

/** Those of `production` first. An environment that is not in the list runs the draft. */
export async function listLiveVersions(perch: Perch, agent: string): Promise<LiveVersion[]> {
  const { data } = await perch.deployments.list(agent, { status: "active", limit: 100, sort: "created_at" });
  const same = new Map<string, boolean>();
  for (const { version } of data) if (!same.has(version)) same.set(version, await isSameAsDraft(perch, agent, version));
  return data
    .map(({ environment, version, traffic_percent }) => ({
      environment,
      version,
      traffic_percent,
      same_as_draft: same.get(version) === true,
    }))
    .sort((a, b) => Number(b.environment === "production") - Number(a.environment === "production"));
}

/** `production runs v3 and v4 (10 %), staging runs v2`. */
const runningText = (live: readonly LiveVersion[]): string =>
  [...Map.groupBy(live, ({ environment }) => environment)]
    .map(([environment, versions]) => {
      const shown = versions.map(({ version, traffic_percent }) =>
        traffic_percent === 100 ? version : `${version} (${traffic_percent} %)`,
      );
      return `${environment} runs ${shown.join(" and ")}`;
    })
    .join(", ");

/** The version that answers now, after the draft was changed, and how the draft goes live. */
export function liveText(agent: string, live: readonly LiveVersion[]): string {
  if (live.length === 0) return "Nothing is deployed: the draft answers.";
  const stale = live.find(({ same_as_draft }) => !same_as_draft);
  if (!stale) return `${runningText(live)}, the same as the draft.`;
  const option = stale.environment === "production" ? "" : ` --environment ${stale.environment}`;
  return `${runningText(live)}: ${perchCommand(`deploy ${agent}${option}`)} makes this live${option && " there"}.`;
}

/** The same with `perch dev`, whose draft answers unless a request names an environment or a version. */
export const liveTextOfDev = (live: readonly LiveVersion[]): string =>
  ["perch dev answers with it now", ...(live.length === 0 ? [] : [runningText(live)])].join("; ");
