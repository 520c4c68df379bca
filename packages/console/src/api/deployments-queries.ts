import type { Agent, Deployment, DeploymentOfAnyAgent, QueryOf } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { resolveRange } from "../parts/time-range.ts";
import { isCanary } from "./is-canary.ts";
import { cursorPages, offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";

const pendingPollMs = 1000;
const canaryPollMs = 2000;
const quietPollMs = 15_000;
const rangePollMs = 60_000;
const canariesPollMs = 5000;

/** The largest page that the API allows. */
const pageSize = 100;

const isPending = ({ status }: Deployment): boolean => status === "pending";

export type DeploymentFilter = Omit<QueryOf<"GET /v1/deployments">, "limit" | "cursor">;

/** As often as these can change by themselves: a check ends, a guard decides, somebody else deploys. */
export function pollMs(deployments: readonly Deployment[] | undefined): number {
  if (deployments?.some(isPending)) return pendingPollMs;
  return deployments?.some(isCanary) ? canaryPollMs : quietPollMs;
}

/** The newest of those that match, beyond the 100 that one answer has. */
async function takeDeployments(
  filter: DeploymentFilter,
  count: number,
  signal: AbortSignal,
): Promise<readonly DeploymentOfAnyAgent[]> {
  const found: DeploymentOfAnyAgent[] = [];
  const limit = Math.min(count, pageSize);
  for await (const deployment of perch.deployments.listAll({ ...filter, limit }, { signal })) {
    found.push(deployment);
    if (found.length === count) break;
  }
  return found;
}

/** How many requests it takes to read so many again: a poll waits so many times longer. */
const pagesOf = (deployments: readonly Deployment[] | undefined): number =>
  Math.max(1, Math.ceil((deployments?.length ?? 0) / pageSize));

/** The newest deployments of an agent. While one is pending, its outcome is awaited. */
export const deploymentsQuery = (agent: string) =>
  queryOptions({
    queryKey: ["deployments", agent, "newest"],
    queryFn: async ({ signal }) => (await perch.deployments.list(agent, { limit: pageSize }, { signal }).page()).data,
    refetchInterval: ({ state }) => (state.data?.some(isPending) ? pendingPollMs : false),
  });

/** Of an environment, those that were made last before a time: one of them was live then. */
export const deploymentsBeforeQuery = (agent: string, environment: string, before: string) =>
  queryOptions({
    queryKey: ["deployments", agent, "before", environment, before],
    queryFn: ({ signal }) => takeDeployments({ agent_id: agent, environment, end_time: before }, 20, signal),
    staleTime: quietPollMs,
    // One that still serves requests has yet to end.
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === "active") ? quietPollMs : false),
  });

interface RangeOfDeployments {
  readonly agent: string;
  readonly environment: string | undefined;
  readonly range: string | undefined;
}

/** More marks than this, no chart has room for. */
const maxInRange = 1000;

/** Those that were made in a range and the last before it, which can change within: to explain what the charts of that range show. */
export const deploymentsAroundQuery = ({ agent, environment, range }: RangeOfDeployments) =>
  queryOptions({
    queryKey: ["deployments", agent, "range", range, environment],
    queryFn: async ({ signal }) => {
      const { start, end } = resolveRange(range, new Date());
      const take = (times: DeploymentFilter, count: number) =>
        takeDeployments({ agent_id: agent, environment, ...times }, count, signal);
      const begin = start.toISOString();
      const found = await Promise.all([
        take({ start_time: begin, end_time: end?.toISOString() }, maxInRange),
        take({ end_time: begin }, pageSize),
      ]);
      return found.flat();
    },
    refetchInterval: ({ state }) => (state.data?.some(isPending) ? pendingPollMs : rangePollMs) * pagesOf(state.data),
  });

/** What an environment can be rolled back to, newest first. It is another answer as soon as something else is live. */
export const replacedDeploymentsQuery = (agent: string, live: Deployment) =>
  queryOptions({
    queryKey: ["deployments", agent, "replaced", live.environment, live.id],
    queryFn: async ({ signal }) => {
      const filter = { environment: live.environment, status: "superseded", limit: pageSize } as const;
      return (await perch.deployments.list(agent, filter, { signal }).page()).data;
    },
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
      (await perch.deployments.list(agent, { status: "active", limit: pageSize }, { signal }).page()).data,
    refetchInterval: ({ state }) => pollMs(state.data),
  });

/** Deployments of all agents, newest first. */
export const allDeploymentsQuery = (filter: DeploymentFilter) => ({
  ...cursorPages(["deployments", "all", filter], (page, signal) =>
    perch.request("GET /v1/deployments", { query: { ...filter, ...page } }, { signal }),
  ),
});

/** What is live beyond this many deployments is not shown in the list of agents; each agent's page has its own. */
const maxActive = 5000;

const allActive = {
  queryKey: ["deployments", "all", "active"],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => takeDeployments({ status: "active" }, maxActive, signal),
  staleTime: 15_000,
};

const byAgent = (active: readonly DeploymentOfAnyAgent[]): ReadonlyMap<string, readonly Deployment[]> =>
  Map.groupBy(active, ({ agent_id }) => agent_id);

/** What serves requests now, of all agents, by the agent's id. */
export const allActiveDeploymentsQuery = queryOptions({ ...allActive, select: byAgent });

const canariesOf = (active: readonly DeploymentOfAnyAgent[]): readonly DeploymentOfAnyAgent[] =>
  active.filter(isCanary);

/** Canaries under way, of all agents. Finding them reads everything that is live, so those that are found are followed one by one. */
export const canariesQuery = queryOptions({
  ...allActive,
  select: canariesOf,
  refetchInterval: ({ state }) => quietPollMs * pagesOf(state.data),
});

/** One of so many canaries. Together they ask for one each second at most. */
export const canaryQuery = (canary: DeploymentOfAnyAgent, count: number) =>
  queryOptions({
    ...deploymentQuery(canary.agent_name, canary.id),
    initialData: canary,
    refetchInterval: Math.max(canariesPollMs, count * 1000),
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
