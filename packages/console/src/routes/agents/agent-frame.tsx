import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet } from "@tanstack/react-router";
import { Suspense, useMemo, useState } from "react";
import { agentQuery } from "../../api/agents-queries.ts";
import { activeDeploymentsQuery } from "../../api/deployments-queries.ts";
import { placesOf, useAreas } from "../../frame/area.ts";
import { Page } from "../../parts/page.tsx";
import { Tabs, tabClass } from "../../parts/tabs.tsx";
import { Working } from "../../parts/working.tsx";
import { AgentActions } from "./agent-actions.tsx";
import { AgentState } from "./agent-state.tsx";
import { DeployOutcome } from "./deploy/deploy-outcome.tsx";
import { servedEnvironments } from "./live-deployments.ts";
import { LiveVersion } from "./live-version.tsx";
import { UnsavedChangesContext } from "./unsaved-changes.ts";

const route = getRouteApi("/signed-in/agents/$agent");

const tabs = [
  { to: "/agents/$agent", name: "Overview" },
  { to: "/agents/$agent/definition", name: "Definition" },
  { to: "/agents/$agent/versions", name: "Versions" },
  { to: "/agents/$agent/deployments", name: "Deployments" },
  { to: "/agents/$agent/playground", name: "Playground" },
  { to: "/agents/$agent/security", name: "Security" },
] as const;

const PlaceName = ({ to }: { readonly to: string }) =>
  placesOf(useAreas()).find(({ route }) => route.to === to)?.name ?? to;

const AgentTabs = ({ agent, name }: { readonly agent: string; readonly name: string }) => (
  <Tabs label="Pages of this agent">
    {tabs.map(({ to, name: tab }) => (
      <Link
        key={to}
        to={to}
        params={{ agent }}
        className={tabClass}
        // A page below one of these belongs to it; all of them are below the overview.
        activeOptions={{ exact: to === "/agents/$agent", includeSearch: false }}
        activeProps={{ className: "!border-accent !text-text font-medium", "aria-current": "page" }}
      >
        {tab}
      </Link>
    ))}
    {(["/runs", "/logs", "/metrics", "/memory"] as const).map((to) => (
      <Link key={to} to={to} search={{ agent: name }} className={tabClass}>
        <PlaceName to={to} />
      </Link>
    ))}
  </Tabs>
);

/** The header of every page of an agent: its state, its live versions, and its actions. */
export function AgentFrame() {
  const { agent: ref } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(ref));
  const { data: active } = useQuery(activeDeploymentsQuery(ref));
  const served = active && servedEnvironments(active);
  const [hasUnsaved, setHasUnsaved] = useState(false);
  const unsavedChanges = useMemo(() => ({ hasUnsaved, setHasUnsaved }), [hasUnsaved]);
  return (
    <UnsavedChangesContext value={unsavedChanges}>
      <Page
        title={agent.name}
        actions={<AgentActions agent={agent} />}
        below={
          <>
            <div className="-mt-2 flex min-h-5 flex-wrap items-center gap-x-4 gap-y-1 text-table">
              <AgentState status={agent.status} />
              {served?.map((one) => (
                <LiveVersion key={one.environment} {...one} />
              ))}
              {served?.length === 0 && <span className="text-muted">Not deployed: the draft answers</span>}
            </div>
            <DeployOutcome agentId={agent.id} active={active ?? []} />
            <AgentTabs agent={ref} name={agent.name} />
          </>
        }
      >
        <Suspense fallback={<Working what="the page" />}>
          <Outlet />
        </Suspense>
      </Page>
    </UnsavedChangesContext>
  );
}
