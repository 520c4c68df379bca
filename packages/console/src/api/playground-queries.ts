import type { Invocation, RunStep } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

/** What is live, and which versions there are: the newest hundred of each. */
export const versionChoicesQuery = (agent: string) =>
  queryOptions({
    queryKey: ["versions", agent, "choices"],
    queryFn: async ({ signal }) => {
      const [versions, deployments] = await Promise.all([
        perch.request(
          "GET /v1/agents/{agent_id}/versions",
          { params: { agent_id: agent }, query: { limit: 100 } },
          { signal },
        ),
        perch.request(
          "GET /v1/agents/{agent_id}/deployments",
          { params: { agent_id: agent }, query: { status: "active", limit: 100 } },
          { signal },
        ),
      ]);
      return { versions: versions.data, live: deployments.data.filter((each) => each.traffic_percent === 100) };
    },
    staleTime: 30_000,
  });

export interface SessionRuns {
  /** Oldest first. */
  readonly runs: readonly Invocation[];
  readonly hasEarlier: boolean;
}

/**
 * The last runs of a session, whole. Read once, because the page that shows them knows of its own runs before the record does; and not kept,
 * because a page that comes back did not see what happened meanwhile.
 */
export const sessionRunsQuery = (agent: string, session: string, limit: number) =>
  queryOptions({
    queryKey: ["invocations", agent, "session", session, limit],
    queryFn: async ({ signal }): Promise<SessionRuns> => {
      const { data, pagination } = await perch.request(
        "GET /v1/agents/{agent_id}/invocations",
        { params: { agent_id: agent }, query: { session_id: session, limit } },
        { signal },
      );
      const runs = await Promise.all(data.map(({ request_id }) => perch.runs.get(agent, request_id, { signal })));
      return { runs: runs.reverse(), hasEarlier: pagination.has_more };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

export const runQuery = (agent: string, runId: string) =>
  queryOptions({
    queryKey: ["invocations", agent, runId],
    queryFn: ({ signal }) => perch.runs.get(agent, runId, { signal }),
  });

/** The steps of a run that has ended: they do not change. */
export const runStepsQuery = (agent: string, runId: string) =>
  queryOptions({
    queryKey: ["invocations", agent, runId, "steps"],
    queryFn: async ({ signal }): Promise<RunStep[]> => {
      const steps: RunStep[] = [];
      for await (const step of perch.runs.steps(agent, runId, { limit: 100 }, { signal })) steps.push(step);
      return steps;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
