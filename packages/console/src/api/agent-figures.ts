import type { AgentMetrics } from "@perch/sdk";
import { type AgentTraffic, intervalMinutes, trafficOf } from "./agent-traffic.ts";

/** The runs of one agent over a range, in a list of many agents. Null if the agent had no runs. */
export interface AgentFigures extends AgentTraffic {
  readonly id: string;
  readonly name: string;
  /** The average over all runs of the range. */
  readonly averageMs: number;
  readonly averagesMs: readonly (number | null)[];
  readonly tokens: readonly (number | null)[];
  /** In US dollars. */
  readonly cost: readonly (number | null)[];
}

export interface AllFigures {
  readonly agents: readonly AgentFigures[];
  /** There are more agents than one request reads. */
  readonly hasMore: boolean;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export function figuresOf({ granularity, series, has_more }: AgentMetrics): AllFigures {
  const minutes = intervalMinutes[granularity];
  const byAgent = Map.groupBy(series, ({ agent_id }) => agent_id);
  const agents = [...byAgent].map(([id, own]): AgentFigures => {
    const valuesOf = (metric: string) => own.find((one) => one.metric === metric)?.values ?? [];
    const throughput = valuesOf("throughput");
    const orGap = (values: readonly number[]) => values.map((value, index) => (throughput[index] ? value : null));
    const averages = valuesOf("response_time");
    const traffic = trafficOf(throughput, valuesOf("error_rate"), minutes);
    const totalMs = sum(averages.map((ms, index) => ms * (throughput[index] ?? 0) * minutes));
    return {
      ...traffic,
      ...{ id, name: own[0]?.agent_name ?? id },
      averageMs: traffic.runs === 0 ? 0 : totalMs / traffic.runs,
      averagesMs: orGap(averages),
      tokens: orGap(valuesOf("tokens")),
      cost: orGap(valuesOf("cost")),
    };
  });
  return { agents: agents.toSorted((a, b) => (a.name < b.name ? -1 : 1)), hasMore: has_more };
}
