import type { AgentMetrics, QueryOf } from "@perch/sdk";
import { partsForMany, usualGranularity } from "../parts/granularity.ts";
import { resolveRange } from "../parts/time-range.ts";
import { perch } from "./perch.ts";

type ManyQuery = Pick<QueryOf<"GET /v1/metrics">, "metrics" | "agent_ids" | "environment">;

/** An agent that was made between the two requests has no values in the earlier part. */
export function joinMetrics(earlier: AgentMetrics, later: AgentMetrics): AgentMetrics {
  const keyOf = ({ agent_id, metric }: AgentMetrics["series"][number]) => `${agent_id} ${metric}`;
  const before = new Map(earlier.series.map((one) => [keyOf(one), one.values]));
  const none = earlier.timestamps.map(() => 0);
  return {
    ...later,
    timestamps: [...earlier.timestamps, ...later.timestamps],
    series: later.series.map((one) => ({ ...one, values: [...(before.get(keyOf(one)) ?? none), ...one.values] })),
  };
}

/** Uses the intervals of an agent's own charts, so that both cover the same time and have the same totals. */
export async function readMetricsOfMany(
  query: ManyQuery,
  range: string | undefined,
  signal: AbortSignal,
): Promise<AgentMetrics> {
  const { start, end = new Date() } = resolveRange(range, new Date());
  const granularity = usualGranularity(end.getTime() - start.getTime());
  const read = (from: Date, until: Date) => {
    const times = { start_time: from.toISOString(), end_time: until.toISOString() };
    return perch.metrics.getAll({ ...query, ...times, granularity }, { signal });
  };
  const [first, second] = partsForMany(start, end, granularity);
  const [earlier, later] = await Promise.all([read(first.start, first.end), second && read(second.start, second.end)]);
  return later ? joinMetrics(earlier, later) : earlier;
}
