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

interface ActivePage {
  readonly data: readonly Deployment[];
  readonly pagination: { readonly next_cursor: string | null };
}

/** More environments than this are not shown in the list of agents; each agent's page has its own. */
const maxActivePages = 50;

async function listActive(signal: AbortSignal): Promise<ReadonlyMap<string, readonly Deployment[]>> {
  const found = new Map<string, Deployment[]>();
  let cursor: string | undefined;
  for (let page = 0; page < maxActivePages; page++) {
    const query = { status: "active", limit: 100, cursor };
    const { data, pagination } = (await perch.request("GET /v1/deployments" as never, { query } as never, {
      signal,
    })) as ActivePage;
    for (const deployment of data)
      found.set(deployment.agent_id, [...(found.get(deployment.agent_id) ?? []), deployment]);
    if (pagination.next_cursor === null) break;
    cursor = pagination.next_cursor;
  }
  return found;
}

/** What serves requests now, of all agents, by the agent's id. */
export const allActiveDeploymentsQuery = queryOptions({
  queryKey: ["deployments", "all", "active"],
  queryFn: ({ signal }) => listActive(signal),
  staleTime: 15_000,
});
