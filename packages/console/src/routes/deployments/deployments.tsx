import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { allDeploymentsQuery, type DeploymentFilter, pollMs } from "../../api/deployments-queries.ts";
import { AgentFilter } from "../../lists/agent-filter.tsx";
import { PagedList } from "../../lists/paged-list.tsx";
import { keepSearch } from "../../parts/change-search.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterBar, SelectFilter } from "../../parts/filters.tsx";
import { Page } from "../../parts/page.tsx";
import { textLinkClass } from "../../parts/text-link.ts";
import { rangeLabel, resolveRange } from "../../parts/time-range.ts";
import { AllDeploymentsTable } from "./list/all-deployments-table.tsx";
import { Canaries } from "./list/canaries.tsx";

const route = getRouteApi("/signed-in/deployments");
const statuses = ["pending", "active", "failed", "superseded", "rolled_back"] as const;
const statusOf = (text: string | undefined) => statuses.find((status) => status === text);

const NoDeployments = ({ isFiltered, range }: { readonly isFiltered: boolean; readonly range: string | undefined }) => (
  <EmptyState title={isFiltered ? "No deployment matches" : "No deployments in this time"}>
    <p className="text-muted">
      Deployments of all agents are listed here, from {rangeLabel(range).toLowerCase()}.{" "}
      <Link to="." search={keepSearch({ range: "30d" })} className={textLinkClass}>
        Look at the last 30 days
      </Link>
      , or deploy an agent:
    </p>
    <code className="rounded border border-line bg-sunken px-3 py-2 font-mono text-table">
      npx perch deploy my-agent --label v1
    </code>
  </EmptyState>
);

/** The deployments of all agents: undecided canaries, and everything in the chosen time. */
export function Deployments() {
  const { agent, status } = route.useSearch();
  const { env, range } = useSearch({ strict: false });
  const navigate = route.useNavigate();
  const filter = useMemo((): DeploymentFilter => {
    const { start, end } = resolveRange(range, new Date());
    return {
      agent_id: agent,
      environment: env,
      status: statusOf(status),
      start_time: start.toISOString(),
      end_time: end?.toISOString(),
    };
  }, [agent, env, range, status]);
  const query = useInfiniteQuery({
    ...allDeploymentsQuery(filter),
    // A poll reads all loaded pages.
    refetchInterval: ({ state }) =>
      pollMs(state.data?.pages.flatMap(({ data }) => data)) * (state.data?.pages.length ?? 1),
  });
  const change = (changed: { agent?: string | undefined; status?: string | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...changed }) });
  const count = [agent, statusOf(status)].filter((each) => each !== undefined).length;
  return (
    <Page
      title="Deployments"
      below={
        <FilterBar count={count} onClear={() => change({ agent: undefined, status: undefined })}>
          <AgentFilter value={agent} onChange={(chosen) => change({ agent: chosen })} />
          <SelectFilter
            label="Status"
            any="Any status"
            value={statusOf(status)}
            onChange={(chosen) => change({ status: chosen })}
            options={statuses}
          />
        </FilterBar>
      }
    >
      {(statusOf(status) ?? "active") === "active" && (
        <Canaries agent={agent} environment={env} listed={query.data?.pages.flatMap(({ data }) => data) ?? []} />
      )}
      <PagedList
        query={query}
        what="deployments"
        empty={<NoDeployments isFiltered={count > 0} range={range} />}
        place={{ listing: JSON.stringify(filter), idOf: ({ id }) => id }}
      >
        {(deployments) => <AllDeploymentsTable deployments={deployments} />}
      </PagedList>
    </Page>
  );
}
