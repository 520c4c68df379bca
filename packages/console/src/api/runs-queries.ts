import type { Invocation, RunStep } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

const pollMs = 3000;

/** One run. While it is under way its stream says when it ends; asking now and then is for a stream that is lost. */
export const runQuery = (agent: string, run: string) =>
  queryOptions({
    queryKey: ["runs", "one", agent, run],
    queryFn: ({ signal }): Promise<Invocation> => perch.runs.get(agent, run, { signal }),
    refetchInterval: ({ state }) => (/running|waiting/.test(state.data?.status ?? "") ? pollMs : false),
  });

/** All recorded steps of a run that has ended. A list of the SDK fetches its further pages by itself. */
export const runStepsQuery = (agent: string, run: string) =>
  queryOptions({
    queryKey: ["runs", "steps", agent, run],
    queryFn: ({ signal }): Promise<RunStep[]> => perch.runs.steps(agent, run, {}, { signal }).toArray(),
    staleTime: 60_000,
  });
