import { queryOptions } from "@tanstack/react-query";
import { figuresOf } from "./agent-figures.ts";
import { readMetricsOfMany } from "./metrics-of-many.ts";

/** Figures of the newest hundred agents. */
export const allMetricsQuery = (range: string | undefined, environment: string | undefined) =>
  queryOptions({
    queryKey: ["metrics", "all", range, environment],
    queryFn: async ({ signal }) => {
      const query = { metrics: "throughput,error_rate,response_time,tokens,cost", environment };
      return figuresOf(await readMetricsOfMany(query, range, signal));
    },
    staleTime: 30_000,
    refetchInterval: 60_000,
  });
