import type { Agent, Deployment, DeploymentOfAnyAgent, QueryOf } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { isCanary } from "./is-canary.ts";
import { cursorPages, offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";

const pendingPollMs = 1000;
const canaryPollMs = 2000;
const quietPollMs = 15_000;
/** Finding them reads everything that is live. */
const canariesPollMs = 5000;

const isPending = ({ status }: Deployment): boolean => status === "pending";

/** As often as these can change by themselves: a check ends, a guard decides, somebody else deploys. */
export function pollMs(deployments: readonly Deployment[] | undefined): number {
  if (deployments?.some(isPending)) return pendingPollMs;
  return deployments?.some(isCanary) ? canaryPollMs : quietPollMs;
}

/** The newest deployments of an agent. While one is pending, its outcome is awaited. */
export const deploymentsQuery = (agent: string) =>
  queryOptions({
    queryKey: ["deployments", agent, "newest"],
    queryFn: async ({ signal }) => (await perch.deployments.list(agent, { limit: 100 }, { signal }).page()).data,
    refetchInterval: ({ state }) => (state.data?.some(isPending) ? pendingPollMs : false),
  });

/** All deployments of an agent that are kept, newest first, page after page. */
export const deploymentPagesQuery = (agent: string, environment: string | undefined) => ({
  ...offsetPages(["deployments", agent, "pages", environment], (page, signal) =>
    perch.deployments.list(agent, { ...page, environment }, { signal }).page(),
  ),
});

export const deploymentQuery = (agent: string, id: string) =>
  queryOptions({
    queryKey: ["deployments", agent, "one", id],
    queryFn: ({ signal }) => perch.deployments.get(agent, id, { signal }),
    refetchInterval: ({ state }) => pollMs(state.data && [state.data]),
  });

/** What serves requests now: the live deployment of each environment, and its canary. */
export const activeDeploymentsQuery = (agent: string) =>
  queryOptions({
    queryKey: ["deployments", agent, "active"],
    queryFn: async ({ signal }) =>
      (await perch.deployments.list(agent, { status: "active", limit: 100 }, { signal }).page()).data,
    refetchInterval: quietPollMs,
  });

export type DeploymentFilter = Omit<QueryOf<"GET /v1/deployments">, "limit" | "cursor">;

/** Deployments of all agents, newest first. */
export const allDeploymentsQuery = (filter: DeploymentFilter) => ({
  ...cursorPages(["deployments", "all", filter], (page, signal) =>
    perch.request("GET /v1/deployments", { query: { ...filter, ...page } }, { signal }),
  ),
});

/** What is live beyond this many deployments is not shown in the list of agents; each agent's page has its own. */
const maxActive = 5000;

async function listActive(signal: AbortSignal): Promise<readonly DeploymentOfAnyAgent[]> {
  const found: DeploymentOfAnyAgent[] = [];
  for await (const deployment of perch.deployments.listAll({ status: "active", limit: 100 }, { signal })) {
    found.push(deployment);
    if (found.length === maxActive) break;
  }
  return found;
}

const byAgent = (active: readonly DeploymentOfAnyAgent[]): ReadonlyMap<string, readonly Deployment[]> =>
  Map.groupBy(active, ({ agent_id }) => agent_id);

/** What serves requests now, of all agents, by the agent's id. */
export const allActiveDeploymentsQuery = queryOptions({
  queryKey: ["deployments", "all", "active"],
  queryFn: async ({ signal }) => byAgent(await listActive(signal)),
  staleTime: 15_000,
});

/** Canaries under way, of all agents. */
export const canariesQuery = queryOptions({
  queryKey: ["deployments", "all", "canaries"],
  queryFn: async ({ signal }) => (await listActive(signal)).filter(isCanary),
  refetchInterval: ({ state }) => (state.data?.length ? canariesPollMs : quietPollMs),
});

/** What was done with a deployment, newest first, and by whom. It needs the permission `manage`. */
export const deploymentHistoryQuery = (id: string) =>
  queryOptions({
    queryKey: ["deployments", "history", id],
    queryFn: async ({ signal }) =>
      (
        await perch.request(
          "GET /v1/audit-log",
          { query: { resource: id, outcome: "changed", limit: 100 } },
          { signal },
        )
      ).data,
    refetchInterval: quietPollMs,
  });

/** Who made the newest deployments, by their ids: a deployment itself names a key, and no person. It needs the permission `manage`. */
export const deployersQuery = queryOptions({
  queryKey: ["deployments", "people"],
  queryFn: async ({ signal }) => {
    const pages = await Promise.all(
      ["createDeployment", "rollbackDeployment"].map((operation) =>
        perch.request("GET /v1/audit-log", { query: { operation, outcome: "changed", limit: 100 } }, { signal }),
      ),
    );
    return new Map(
      pages.flatMap(({ data }) =>
        data.flatMap(({ resource, person }) =>
          resource === null || person === null ? [] : [[resource, person] as const],
        ),
      ),
    );
  },
  staleTime: 15_000,
});

/** What a deployment of the saved draft would fail for. It changes nothing, and belongs to the draft as it is now. */
export const draftCheckQuery = (agent: Agent) =>
  queryOptions({
    queryKey: ["agents", "check", agent.id, agent.updated_at],
    queryFn: async ({ signal }) => (await perch.agents.check(agent.id, { signal })).problems,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  });
