import { getRouteApi, Link } from "@tanstack/react-router";
import { buttonClass } from "../../parts/button.tsx";
import { Page } from "../../parts/page.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { AgentCharts } from "./agent-charts.tsx";
import { AllAgents } from "./all-agents.tsx";
import { MetricFilters } from "./metric-filters.tsx";

const route = getRouteApi("/signed-in/metrics");

/** Throughput, errors, speed and cost of one agent; or of all agents, one per row. */
export function Metrics() {
  const { agent } = route.useSearch();
  const allAgents = (
    <Link
      to="/metrics"
      search={{ agent: undefined, version: undefined, compare: undefined }}
      className={buttonClass("plain")}
    >
      Show all agents
    </Link>
  );
  return (
    <Page
      title="Metrics"
      tabTitle={agent === undefined ? "Metrics" : `Metrics of ${visibleText(agent)}`}
      actions={agent !== undefined && allAgents}
      below={<MetricFilters />}
    >
      {agent === undefined ? <AllAgents /> : <AgentCharts key={agent} agent={agent} />}
    </Page>
  );
}
