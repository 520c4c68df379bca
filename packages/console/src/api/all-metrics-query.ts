import { queryOptions } from "@tanstack/react-query";
import { resolveRange } from "../parts/time-range.ts";
import { figuresOf } from "./agent-figures.ts";
import { perch } from "./perch.ts";

/** Figures of the newest hundred agents, in one request. */
export const allMetricsQuery = (range: string | undefined, environment: string | undefined) =>
  queryOptions({
    queryKey: ["metrics", "all", range, environment],
    queryFn: async ({ signal }) => {
      const { start, end } = resolveRange(range, new Date());
      const query = {
        metrics: "throughput,error_rate,response_time,tokens,cost",
        start_time: start.toISOString(),
        end_time: end?.toISOString(),
        environment,
      };
      return figuresOf(await perch.metrics.getAll(query, { signal }));
    },
    staleTime: 30_000,
    refetchInterval: 60_000,
  });
