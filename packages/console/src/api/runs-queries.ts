import type { Invocation, RunStep } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

const pollMs = 3000;

/** A run that has not ended. */
export const isOpenRun = ({ status }: Pick<Invocation, "status">): boolean =>
  status === "running" || status === "waiting";

/** One run. While it is under way its stream reports when it ends; polling covers a lost stream. */
export const runQuery = (agent: string, run: string) =>
  queryOptions({
    queryKey: ["runs", "one", agent, run],
    queryFn: ({ signal }): Promise<Invocation> => perch.runs.get(agent, run, { signal }),
    refetchInterval: ({ state }) => (state.data && isOpenRun(state.data) ? pollMs : false),
  });

/**
 * All recorded steps of a run that has ended, or waits and will have more of them. A list of the SDK fetches its further pages by itself.
 */
export const runStepsQuery = (agent: string, run: string, status: Invocation["status"]) =>
  queryOptions({
    queryKey: ["runs", "steps", agent, run, status],
    queryFn: ({ signal }): Promise<RunStep[]> => perch.runs.steps(agent, run, {}, { signal }).toArray(),
    // It can wait again, further on, without being seen to run in between.
    ...(status === "waiting" ? { staleTime: 0, refetchInterval: pollMs } : { staleTime: 60_000 }),
  });
