import type { Deployment } from "@perch/sdk";
import { useQueries } from "@tanstack/react-query";
import { deploymentsBeforeQuery } from "../../../api/deployments-queries.ts";

/**
 * Those that were made before the oldest one that is loaded, and can have served requests after it: where one environment is deployed often,
 * what another has had for months is many pages away.
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
