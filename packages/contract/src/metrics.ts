import { z } from "zod";
import { Instant, single, Timestamp } from "./envelopes.ts";
import { AgentRef } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const metricNames = ["response_time", "throughput", "error_rate", "tokens", "cost"] as const;
export const granularities = ["1m", "5m", "1h", "1d"] as const;
export const Granularity = z.enum(granularities).meta({ id: "Granularity" });
export type Granularity = z.infer<typeof Granularity>;
export const granularitySeconds: Record<Granularity, number> = { "1m": 60, "5m": 300, "1h": 3600, "1d": 86_400 };
export const statistics = ["avg", "p50", "p95", "p99"] as const;

export const MetricSeries = z
  .object({
    metric: z.enum(metricNames),
    granularity: Granularity,
    statistic: z.enum(statistics).nullable().describe("Of response_time; null for the others."),
    values: z.array(
      z.object({ timestamp: Timestamp, value: z.number(), unit: z.string() }).meta({ id: "MetricValue" }),
    ),
  })
  .meta({ id: "MetricSeries" });
export type MetricSeries = z.infer<typeof MetricSeries>;

export const metricOperations = {
  "GET /v1/agents/{agent_id}/metrics": {
    id: "getMetrics",
    tag: "Logs and metrics",
    summary: "Get metrics",
    description:
      "Every interval of the range has a value, also one without runs. `response_time` is in milliseconds, `throughput` in requests per minute, `error_rate` a share from 0 to 1, `tokens` and `cost` are sums; `cost` is in US dollars, as far as the operator set prices. Percentiles are true to within 6 %.",
    permission: "read",
    params: z.strictObject({ agent_id: AgentRef }),
    query: z.strictObject({
      metric: z.enum(metricNames),
      start_time: Instant.optional().describe("From the interval of this time on; 24 hours before the end unless set."),
      end_time: Instant.optional().describe("Before this time; now unless set."),
      granularity: Granularity.optional().describe(
        "The finest with at most 300 values unless set; at most 1,500 values.",
      ),
      statistic: z.enum(statistics).optional().describe("Of response_time: avg unless set."),
      environment: z.string().min(1).max(256).optional(),
      version: z.string().min(1).max(256).optional(),
    }),
    status: 200,
    response: single(MetricSeries),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
