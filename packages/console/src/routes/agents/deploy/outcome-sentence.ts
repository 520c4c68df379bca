import type { ServedEnvironment } from "../live-deployments.ts";

/** What will serve an environment after a deployment, in one sentence. */
export function outcomeSentence(
  environment: string,
  version: string,
  trafficPercent: number,
  served: readonly ServedEnvironment[],
): string {
  const live = served.find((one) => one.environment === environment)?.live;
  if (trafficPercent < 100)
    return live
      ? `${version} will get ${trafficPercent} % of the requests in ${environment}; ${live.version} keeps the rest.`
      : `Nothing is live in ${environment} yet, so a canary has nothing to stand beside: deploy with 100 percent.`;
  return live
    ? `${version} will be live in ${environment}, in place of ${live.version}.`
    : `${version} will be live in ${environment}; until now nothing is deployed there.`;
}
