import type { AgentMetrics } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { resolveRange } from "../parts/time-range.ts";
import { perch } from "./perch.ts";

/** What a line of the list of agents shows of an agent's runs. */
export interface AgentTraffic {
  readonly runs: number;
  /** Of all runs of the range. */
  readonly errorRate: number;
  readonly throughput: readonly (number | null)[];
  readonly errorRates: readonly (number | null)[];
}

export const intervalMinutes = { "1m": 1, "5m": 5, "1h": 60, "1d": 1440 } as const;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** `throughput` is in requests per minute. An interval without runs has an error rate of 0, which nobody has measured. */
export function trafficOf(throughput: readonly number[], errorRates: readonly number[], minutes: number): AgentTraffic {
  const runs = Math.round(sum(throughput) * minutes);
  const failed = sum(throughput.map((perMinute, index) => perMinute * minutes * (errorRates[index] ?? 0)));
  const orGap = (values: readonly number[]) => values.map((value, index) => (throughput[index] ? value : null));
  return {
    runs,
    errorRate: runs === 0 ? 0 : failed / runs,
    throughput: orGap(throughput),
    errorRates: orGap(errorRates),
  };
}

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

/** Throughput and error rate of up to 100 agents, in one request. */
export const trafficQuery = ({ agentIds, range, environment }: TrafficQuery) =>
  queryOptions({
    queryKey: ["metrics", "traffic", range, environment, agentIds],
    queryFn: async ({ signal }) => {
      const { start, end } = resolveRange(range, new Date());
      const query = {
        metrics: "throughput,error_rate",
        agent_ids: agentIds.join(","),
        start_time: start.toISOString(),
        end_time: end?.toISOString(),
        environment,
      };
      return trafficByAgent(await perch.metrics.getAll(query, { signal }));
    },
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
