import type { Deployment } from "@perch/sdk";
import { useQueries } from "@tanstack/react-query";
import { deploymentsBeforeQuery } from "../../../api/deployments-queries.ts";

/**
 * Deployments made before the oldest loaded one that may have served requests after it. If one environment is deployed often, the months-
 * old live version of another is many pages away.
 */
export function useEarlier(
  agent: string,
  loaded: readonly Deployment[],
  before: string | undefined,
): readonly Deployment[] {
  const environments = before === undefined ? [] : [...new Set(loaded.map(({ environment }) => environment))];
  const queries = environments.map((environment) => deploymentsBeforeQuery(agent, environment, before ?? ""));
  return useQueries({ queries }).flatMap(({ data = [] }) => data);
}
