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

/** Deployments change by themselves: a check ends, a guard decides, or a colleague deploys. */
export function pollMs(deployments: readonly Deployment[] | undefined): number {
  if (deployments?.some(isPending)) return pendingPollMs;
  return deployments?.some(isCanary) ? canaryPollMs : quietPollMs;
}

/** The newest matching deployments, beyond the 100 of one response. */
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

/** The number of requests that one poll takes. The poll interval grows by the same factor. */
const pagesOf = (deployments: readonly Deployment[] | undefined): number =>
  Math.max(1, Math.ceil((deployments?.length ?? 0) / pageSize));

/** The newest deployments of an agent. While one is pending, its outcome is awaited. */
export const deploymentsQuery = (agent: string) =>
  queryOptions({
    queryKey: ["deployments", agent, "newest"],
    queryFn: async ({ signal }) => (await perch.deployments.list(agent, { limit: pageSize }, { signal }).page()).data,
    refetchInterval: ({ state }) => (state.data?.some(isPending) ? pendingPollMs : false),
  });

/** The last deployments of an environment before a given time: one of them was live then. */
export const deploymentsBeforeQuery = (agent: string, environment: string, before: string) =>
  queryOptions({
    queryKey: ["deployments", agent, "before", environment, before],
    queryFn: ({ signal }) => takeDeployments({ agent_id: agent, environment, end_time: before }, 20, signal),
    staleTime: quietPollMs,
    // A deployment that still serves requests has not ended yet.
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === "active") ? quietPollMs : false),
  });

interface RangeOfDeployments {
  readonly agent: string;
  readonly environment: string | undefined;
  readonly range: string | undefined;
}

/** A chart has no room for more marks. */
const maxInRange = 1000;

/** The deployments made in a range, and the last ones before it, which can change within the range. They explain what its charts show. */
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

/** The active deployments: the live one of each environment, and its canary. */
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

/** The list of agents shows live versions of at most this many deployments; each agent's page shows its own. */
const maxActive = 5000;

const allActive = {
  queryKey: ["deployments", "all", "active"],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => takeDeployments({ status: "active" }, maxActive, signal),
  staleTime: 15_000,
};

const byAgent = (active: readonly DeploymentOfAnyAgent[]): ReadonlyMap<string, readonly Deployment[]> =>
  Map.groupBy(active, ({ agent_id }) => agent_id);

/** The active deployments of all agents, by the agent's id. */
export const allActiveDeploymentsQuery = queryOptions({ ...allActive, select: byAgent });

const canariesOf = (active: readonly DeploymentOfAnyAgent[]): readonly DeploymentOfAnyAgent[] =>
  active.filter(isCanary);

/** Canaries under way, of all agents. Finding them reads every live deployment, so each one found is then polled by itself. */
export const canariesQuery = queryOptions({
  ...allActive,
  select: canariesOf,
  refetchInterval: ({ state }) => quietPollMs * pagesOf(state.data),
});

/** One of several canaries. Together they send at most one request per second. */
export const canaryQuery = (canary: DeploymentOfAnyAgent, count: number) =>
  queryOptions({
    ...deploymentQuery(canary.agent_name, canary.id),
    initialData: canary,
    refetchInterval: Math.max(canariesPollMs, count * 1000),
  });

/** The changes of a deployment and who made them, newest first. It needs the permission `manage`. */
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

/**
 * The creators of the newest deployments, by deployment id. The deployment itself names only a key, not a person. It needs the permission
 * `manage`.
 */
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

/**
 * The reasons why a deployment of the saved draft would fail. The check changes nothing, and its result is only valid for the draft as it
 * is now.
 */
export const draftCheckQuery = (agent: Agent) =>
  queryOptions({
    queryKey: ["agents", "check", agent.id, agent.updated_at],
    queryFn: async ({ signal }) => (await perch.agents.check(agent.id, { signal })).problems,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  });
