import { z } from "zod";
import { Instant, single, Timestamp } from "./envelopes.ts";
import { AgentId, AgentRef } from "./ids.ts";
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
    statistic: z
      .enum(statistics)
      .nullable()
      .describe("Which statistic of response_time the values are. null for other metrics."),
    values: z.array(
      z.object({ timestamp: Timestamp, value: z.number(), unit: z.string() }).meta({ id: "MetricValue" }),
    ),
  })
  .meta({ id: "MetricSeries" });
export type MetricSeries = z.infer<typeof MetricSeries>;

export const AgentMetrics = z
  .object({
    granularity: Granularity,
    timestamps: z.array(Timestamp).describe("The beginning of each interval."),
    series: z.array(
      z
        .object({
          agent_id: AgentId,
          agent_name: z.string(),
          metric: z.enum(metricNames),
          unit: z.string(),
          values: z.array(z.number()).describe("One value for each of `timestamps`."),
        })
        .meta({ id: "AgentMetricSeries" }),
    ),
    has_more: z
      .boolean()
      .describe("Whether there are more agents: without `agent_ids`, only the newest 100 are included."),
  })
  .meta({ id: "AgentMetrics" });
export type AgentMetrics = z.infer<typeof AgentMetrics>;

/** The maximum number of agents in one request, as on a page of agents. */
export const maxMetricAgents = 100;

const environmentQuery = z.string().min(1).max(256).optional();

export const metricOperations = {
  "GET /v1/metrics": {
    id: "getAllMetrics",
    tag: "Logs and metrics",
    summary: "Get metrics of several agents",
    description:
      "Returns a series for each agent and metric, with one value for every interval of the range, in the units of Get metrics. `response_time` is the average; Get metrics has percentiles.",
    permission: "read",
    agents: "listed",
    query: z.strictObject({
      metrics: z
        .string()
        .min(1)
        .max(200)
        .default("throughput,error_rate")
        .describe(`Some of ${metricNames.join(", ")}, separated by commas.`),
      agent_ids: z
        .string()
        .min(1)
        .max(8000)
        .optional()
        .describe(
          "Up to 100 agents (ids or names), separated by commas. The default is the newest 100 that the key can read.",
        ),
      start_time: Instant.optional().describe(
        "Start of the range, rounded down to an interval. The default is 24 hours before the end.",
      ),
      end_time: Instant.optional().describe("End of the range, exclusive. The default is now."),
      granularity: Granularity.optional().describe(
        "Length of an interval. A range may have at most 120. The default is the shortest that gives no more.",
      ),
      environment: environmentQuery,
    }),
    status: 200,
    response: single(AgentMetrics),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/metrics": {
    id: "getMetrics",
    tag: "Logs and metrics",
    summary: "Get metrics",
    description:
      "Returns one value for every interval of the range, including intervals without runs. `response_time` is in milliseconds, `throughput` in requests per minute, `error_rate` is a fraction from 0 to 1. `tokens` and `cost` are sums; `cost` is in US dollars and covers models whose price the operator has set. Percentiles are accurate to within 6 %.",
    permission: "read",
    params: z.strictObject({ agent_id: AgentRef }),
    query: z.strictObject({
      metric: z.enum(metricNames),
      start_time: Instant.optional().describe(
        "Start of the range, rounded down to an interval. The default is 24 hours before the end.",
      ),
      end_time: Instant.optional().describe("End of the range, exclusive. The default is now."),
      granularity: Granularity.optional().describe(
        "Length of an interval. A range may have at most 1,500. The default is the shortest that gives at most 300.",
      ),
      statistic: z.enum(statistics).optional().describe("Statistic of response_time. The default is avg."),
      environment: environmentQuery,
      version: z.string().min(1).max(256).optional(),
    }),
    status: 200,
    response: single(MetricSeries),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type MetricOperationKey = keyof typeof metricOperations;
