import type { Deployment } from "@perch/sdk";

const endOf = ({ ended_at }: Deployment): string => ended_at ?? "";

/**
 * The deployment to go back to: the one that was live before, of another version. A rollback stands where the deployment stands that it
 * restored, as in the API: the next one goes further back, and none brings back what another has removed.
 */
export function rollBackTarget(deployments: readonly Deployment[], live: Deployment): Deployment | undefined {
  const replaced = deployments
    .filter(
      ({ environment, status, traffic_percent, activated_at }) =>
        environment === live.environment && status === "superseded" && traffic_percent === 100 && activated_at !== null,
    )
    .sort((a, b) => endOf(b).localeCompare(endOf(a)));
  const restoredBy = ({ version, activated_at }: Deployment) =>
    replaced.find(
      (each) => each.rollback_of === null && each.version === version && endOf(each) <= (activated_at ?? ""),
    );
  const before = (deployment: Deployment): Deployment | undefined => {
    const origin = deployment.rollback_of === null ? deployment : restoredBy(deployment);
    const found = origin && replaced.find((each) => origin.ended_at === null || endOf(each) < origin.ended_at);
    return found?.version === live.version ? before(found) : found;
  };
  return before(live);
}
