import { type Deployment, PerchError } from "@perch/sdk";
import type { MutationState } from "@tanstack/react-query";
import { isCanary } from "../../../api/is-canary.ts";
import type { Deploying } from "./use-deploy.ts";

export type DeployState = MutationState<Deployment, Error, Deploying>;

/** What is known about a deployment that may go on although this page got an error; undefined if it does not go on. */
export function uncertainOutcome(
  error: Error | null,
  { version, environment }: Pick<Deploying, "version" | "environment">,
): string | undefined {
  if (!(error instanceof PerchError) || error.code === "deployment_failed") return undefined;
  // It was created; only the request for its status failed or took too long.
  if (error.method === "GET")
    return `${version} was still being checked for ${environment} when this page last got its status. The agent's deployments show the outcome.`;
  if (error.status === undefined)
    return `The server has not confirmed whether it deploys ${version} to ${environment}. The agent's deployments show it.`;
  return undefined;
}

/** The outcome of a deployment that was started here, while it serves requests. It may have been promoted or rolled back since. */
export function deployProgress(
  { status, variables, error, data }: DeployState,
  active: readonly Deployment[],
): string | undefined {
  if (!variables) return undefined;
  const { environment, version } = variables;
  if (status === "pending") return `Deploying ${version} to ${environment}; this takes up to 20 seconds.`;
  if (status === "error") return uncertainOutcome(error, variables) ?? `${version} was not deployed to ${environment}.`;
  const serving = active.find(({ id }) => id === data?.id);
  if (!serving) return undefined;
  return isCanary(serving)
    ? `${version} is a canary in ${environment} with ${serving.traffic_percent} % of the requests.`
    : `${version} is live in ${environment}.`;
}
