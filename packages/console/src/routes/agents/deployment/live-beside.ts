import type { Deployment } from "@perch/sdk";
import { handoverMs } from "../deployments/timeline.ts";

/** The deployment that was live, with the remaining requests, when this one became a canary. */
export const liveBeside = (deployments: readonly Deployment[], canary: Deployment): Deployment | undefined => {
  const { id, environment, activated_at } = canary;
  if (activated_at === null) return undefined;
  return deployments.find(
    (each) =>
      each.id !== id &&
      each.environment === environment &&
      each.traffic_percent === 100 &&
      each.activated_at !== null &&
      each.activated_at <= activated_at &&
      (each.ended_at === null || Date.parse(each.ended_at) > Date.parse(activated_at) + handoverMs),
  );
};
