import type { Deployment } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

const pendingPollMs = 1000;
const isPending = ({ status }: Deployment): boolean => status === "pending";

/** The newest deployments of an agent. While one is pending, its outcome is awaited. */
export const deploymentsQuery = (agent: string) =>
  queryOptions({
    queryKey: ["deployments", agent, "newest"],
    queryFn: async ({ signal }) => (await perch.deployments.list(agent, { limit: 100 }, { signal }).page()).data,
    refetchInterval: ({ state }) => (state.data?.some(isPending) ? pendingPollMs : false),
  });

/** What serves requests now: the live deployment of each environment, and its canary. */
export const activeDeploymentsQuery = (agent: string) =>
  queryOptions({
    queryKey: ["deployments", agent, "active"],
    queryFn: async ({ signal }) =>
      (await perch.deployments.list(agent, { status: "active", limit: 100 }, { signal }).page()).data,
    refetchInterval: 15_000,
  });

/** What is live beyond this many deployments is not shown in the list of agents; each agent's page has its own. */
const maxActive = 5000;

async function listActive(signal: AbortSignal): Promise<ReadonlyMap<string, readonly Deployment[]>> {
  const found = new Map<string, Deployment[]>();
  let count = 0;
  for await (const deployment of perch.deployments.listAll({ status: "active" }, { signal })) {
    found.set(deployment.agent_id, [...(found.get(deployment.agent_id) ?? []), deployment]);
    if (++count === maxActive) break;
  }
  return found;
}

/** What serves requests now, of all agents, by the agent's id. */
export const allActiveDeploymentsQuery = queryOptions({
  queryKey: ["deployments", "all", "active"],
  queryFn: ({ signal }) => listActive(signal),
  staleTime: 15_000,
});
