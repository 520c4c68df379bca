import type { Deployment } from "@perch/sdk";
import type { ServedEnvironment } from "../live-deployments.ts";

/** A new live version, by a deployment or a rollback, ends the canary beside the old one. */
export const canaryEnds = (canary: Deployment | undefined): string =>
  canary ? `; the canary ${canary.version} ends` : "";

/** The versions that will serve an environment after a deployment, in one sentence. */
export function outcomeSentence(
  environment: string,
  version: string,
  trafficPercent: number,
  served: readonly ServedEnvironment[],
): string {
  const { live, canary } = served.find((one) => one.environment === environment) ?? {};
  if (trafficPercent < 100 && canary)
    return `${canary.version} is already a canary in ${environment}, and there can be only one: promote or abort it first.`;
  if (trafficPercent < 100)
    return live
      ? `${version} will get ${trafficPercent} % of the requests in ${environment}; ${live.version} keeps the rest.`
      : `Nothing is live in ${environment} yet, so it cannot have a canary: deploy with 100 percent.`;
  return live
    ? `${version} will be live in ${environment}, in place of ${live.version}${canaryEnds(canary)}.`
    : `${version} will be live in ${environment}; nothing is deployed there yet.`;
}
