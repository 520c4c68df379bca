import { type AgentMetrics, type MetricSeries, maxMetricAgents, metricNames } from "@perch/contract";
import type { Scope } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import { forbidden, invalid, notFound } from "../../platform/api-error.ts";
import { toPublicId } from "../../platform/ids.ts";
import { type AgentRow, listAgentNames, listNamedAgents } from "../agents/agent-queries.ts";
import { listSumsOfAgents } from "./metric-queries.ts";
import { type Intervals, metricValue, noSums, units } from "./metric-rules.ts";

type NamedAgent = Pick<AgentRow, "id" | "name">;
type Metric = MetricSeries["metric"];

const isMetric = (name: string): name is Metric => (metricNames as readonly string[]).includes(name);

/** `a,b` as its parts, each once. */
const partsOf = (list: string): string[] => [...new Set(list.split(",").map((part) => part.trim()))];

export function parseMetrics(list: string): Metric[] {
  const names = partsOf(list);
  const unknown = names.find((name) => !isMetric(name));
  if (unknown !== undefined)
    throw invalid("metrics", `Expected some of ${metricNames.join(", ")}, separated by commas`);
  return names.filter(isMetric);
}

export function parseAgentRefs(list: string): string[] {
  const refs = partsOf(list);
  if (refs.length > maxMetricAgents)
    throw invalid("agent_ids", `Names ${refs.length} agents. Ask for at most ${maxMetricAgents} at a time`);
  return refs;
}

/** The agents in the order in which they were named. */
export async function findNamedAgents(
  trx: OrganisationTransaction,
  scope: Scope,
  refs: readonly string[],
): Promise<NamedAgent[]> {
  const found = await listNamedAgents(trx, scope, refs);
  const byRef = new Map(
    found.flatMap((one) => [[one.name, one] as const, [toPublicId("agent", one.id), one] as const]),
  );
  const named = refs.map((ref) => {
    const agent = byRef.get(ref);
    if (!agent) throw notFound("agent", ref);
    if (scope.hiddenAgentIds?.includes(agent.id))
      throw forbidden(
        `The settings of the agent ${agent.name} refuse this request. Leave it out, or ask for GET /v1/agents/${agent.name}/metrics to see why.`,
      );
    return agent;
  });
  return [...new Set(named)];
}

interface AgentMetricsRequest {
  readonly refs: readonly string[] | undefined;
  readonly metrics: readonly Metric[];
  readonly environment: string | undefined;
  readonly intervals: Intervals;
}

/** Two statements, however many agents: which agents, and their sums. */
export async function findAgentMetrics(
  trx: OrganisationTransaction,
  scope: Scope,
  { refs, metrics, environment, intervals }: AgentMetricsRequest,
): Promise<AgentMetrics> {
  const { granularity, seconds, starts } = intervals;
  const found = refs ? await findNamedAgents(trx, scope, refs) : await listAgentNames(trx, scope, maxMetricAgents + 1);
  const agents = found.slice(0, maxMetricAgents);
  const filter = { organisationId: scope.organisationId, agentIds: agents.map(({ id }) => id), environment };
  const sums = await listSumsOfAgents(trx, filter, intervals);
  const byPlace = new Map(sums.map((one) => [`${one.agentId} ${one.sinceMs}`, one]));
  return {
    granularity,
    timestamps: starts.map((sinceMs) => new Date(sinceMs).toISOString()),
    series: agents.flatMap(({ id, name }) =>
      metrics.map((metric) => ({
        agent_id: toPublicId("agent", id),
        agent_name: name,
        metric,
        unit: units[metric],
        values: starts.map((sinceMs) => metricValue(metric, byPlace.get(`${id} ${sinceMs}`) ?? noSums, seconds)),
      })),
    ),
    has_more: found.length > agents.length,
  };
}
