import type { Deployment } from "@perch/sdk";

/**
 * The deployment to go back to: the last one of the environment that was live for everybody and was replaced in the ordinary way. One that
 * was itself rolled back is passed over, or rolling back twice would bring back what was wrong.
 */
export const rollBackTarget = (deployments: readonly Deployment[], live: Deployment): Deployment | undefined =>
  deployments
    .filter(
      ({ environment, status, version, traffic_percent, activated_at }) =>
        environment === live.environment &&
        status === "superseded" &&
        traffic_percent === 100 &&
        activated_at !== null &&
        version !== live.version,
    )
    .sort((a, b) => (b.ended_at ?? "").localeCompare(a.ended_at ?? ""))[0];
