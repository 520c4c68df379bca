import { getRouteApi } from "@tanstack/react-router";
import { Charts } from "./overview/charts.tsx";
import { LastDeployments } from "./overview/last-deployments.tsx";
import { LastRuns } from "./overview/last-runs.tsx";
import { LiveTable } from "./overview/live-table.tsx";

const route = getRouteApi("/signed-in/agents/$agent/");

/** The state of the agent: its live versions, its figures, and its last runs and deployments. */
export function Overview() {
  const { agent } = route.useParams();
  return (
    <div className="flex flex-col gap-6 p-4">
      <LiveTable agent={agent} />
      <Charts agent={agent} />
      <div className="grid gap-6 xl:grid-cols-2">
        <LastRuns agent={agent} />
        <LastDeployments agent={agent} />
      </div>
    </div>
  );
}
