import type { AgentMetrics } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { type AgentTraffic, intervalMinutes, trafficOf } from "./agent-traffic.ts";
import { readMetricsOfMany } from "./metrics-of-many.ts";

function trafficByAgent({ granularity, series }: AgentMetrics): ReadonlyMap<string, AgentTraffic> {
  const valuesOf = (agentId: string, metric: string) =>
    series.find((one) => one.agent_id === agentId && one.metric === metric)?.values ?? [];
  const ids = [...new Set(series.map(({ agent_id }) => agent_id))];
  const minutes = intervalMinutes[granularity];
  return new Map(ids.map((id) => [id, trafficOf(valuesOf(id, "throughput"), valuesOf(id, "error_rate"), minutes)]));
}

interface TrafficQuery {
  readonly agentIds: readonly string[];
  readonly range: string | undefined;
  readonly environment: string | undefined;
}

/** Throughput and error rate of up to 100 agents. */
export const trafficQuery = ({ agentIds, range, environment }: TrafficQuery) =>
  queryOptions({
    queryKey: ["metrics", "traffic", range, environment, agentIds],
    queryFn: async ({ signal }) => {
      const query = { metrics: "throughput,error_rate", agent_ids: agentIds.join(","), environment };
      return trafficByAgent(await readMetricsOfMany(query, range, signal));
    },
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
