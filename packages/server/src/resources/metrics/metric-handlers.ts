import type { MetricOperationKey, Tier } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import type { Share } from "../../fairness/shares.ts";
import { invalid } from "../../platform/api-error.ts";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import { single } from "../envelopes.ts";
import type { Handlers } from "../handlers.ts";
import { laterOf, timeRange, visibleSince } from "../logs/log-rules.ts";
import { findAgentMetrics, parseAgentRefs, parseMetrics } from "./agent-metrics.ts";
import { listDurations, listSums } from "./metric-queries.ts";
import {
  createIntervals,
  type Intervals,
  metricValue,
  noSums,
  percentileOf,
  pointsOfManyAgents,
  units,
} from "./metric-rules.ts";

interface MetricDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly readsAcrossAgents: Pick<Share, "hold">;
  readonly nowMs: () => number;
}

const quantiles = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;

/** Older values than the tier shows are 0. */
const visibleIntervals = (all: Intervals, tier: Tier, nowMs: number): Intervals => ({
  ...all,
  from: laterOf(all.from, visibleSince(tier, nowMs)),
});

export const metricHandlers = ({ db, agents, readsAcrossAgents, nowMs: now }: MetricDeps) =>
  ({
    "GET /v1/metrics": ({ query }, { scope, caller }) => {
      const nowMs = now();
      const all = createIntervals(timeRange(query, nowMs), query.granularity, pointsOfManyAgents);
      const request = {
        refs: query.agent_ids === undefined ? undefined : parseAgentRefs(query.agent_ids),
        metrics: parseMetrics(query.metrics),
        environment: query.environment,
        intervals: visibleIntervals(all, caller.organisation.tier, nowMs),
      };
      const { organisationId } = scope;
      return readsAcrossAgents.hold(organisationId, () =>
        db.inOrganisation(organisationId, async (trx) => single(await findAgentMetrics(trx, scope, request))),
      );
    },

    "GET /v1/agents/{agent_id}/metrics": async ({ params, query }, context) => {
      const { metric, statistic } = query;
      if (statistic !== undefined && metric !== "response_time")
        throw invalid("statistic", "Is for response_time only");
      const agent = await agents.get(context, params.agent_id);
      const filter = {
        organisationId: agent.organisation_id,
        agentId: agent.id,
        environment: query.environment,
        version: query.version,
      };
      const nowMs = now();
      const all = createIntervals(timeRange(query, nowMs), query.granularity);
      const intervals = visibleIntervals(all, context.caller.organisation.tier, nowMs);
      const { granularity, seconds, starts } = intervals;
      const quantile = statistic === undefined || statistic === "avg" ? undefined : quantiles[statistic];
      const valueAt = await db.inOrganisation(filter.organisationId, async (trx) => {
        if (quantile !== undefined) {
          const durations = await listDurations(trx, filter, intervals);
          return (sinceMs: number) => percentileOf(durations.get(sinceMs) ?? [], quantile);
        }
        const sums = new Map((await listSums(trx, filter, intervals)).map((sum) => [sum.sinceMs, sum]));
        return (sinceMs: number) => metricValue(metric, sums.get(sinceMs) ?? noSums, seconds);
      });
      const values = starts.map((sinceMs) => ({
        timestamp: new Date(sinceMs).toISOString(),
        value: valueAt(sinceMs),
        unit: units[metric],
      }));
      return single({
        metric,
        granularity,
        statistic: metric === "response_time" ? (statistic ?? "avg") : null,
        values,
      });
    },
  }) satisfies Handlers<MetricOperationKey>;
