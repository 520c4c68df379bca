import type { AgentSummary } from "@perch/sdk";
import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo, useRef } from "react";
import type { AgentTraffic } from "../../../api/agent-traffic.ts";
import { allActiveDeploymentsQuery } from "../../../api/deployments-queries.ts";
import { trafficQuery } from "../../../api/metrics-queries.ts";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { rangeLabel } from "../../../parts/time-range.ts";
import { useMedia } from "../../../parts/use-media.ts";
import { useVirtualRows } from "../../../parts/virtual-rows.ts";
import { Working } from "../../../parts/working.tsx";
import { servedEnvironments } from "../live-deployments.ts";
import { AgentRow, NarrowAgentRow } from "./agent-row.tsx";
import { SortHeader } from "./sort-header.tsx";

const route = getRouteApi("/signed-in/agents");
const rowHeight = 32;
const narrowRowHeight = 48;
const agentsPerMetricsRequest = 100;
/** The next page is fetched when this many rows are left below the last visible one. */
const fetchAhead = 40;

interface AgentTableProps {
  /** The agents that match the filter. */
  readonly agents: readonly AgentSummary[];
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly onMore: () => void;
}

const chunked = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / agentsPerMetricsRequest) }, (_, index) =>
    ids.slice(index * agentsPerMetricsRequest, (index + 1) * agentsPerMetricsRequest),
  );

/** Throughput and errors of the visible agents: one request for each hundred of the list. */
function useTraffic(agents: readonly AgentSummary[], first: number, last: number): Map<string, AgentTraffic> {
  const { env, range } = route.useSearch();
  const chunks = useMemo(() => chunked(agents.map(({ id }) => id)), [agents]);
  const results = useQueries({
    queries: chunks.map((agentIds, index) => ({
      ...trafficQuery({ agentIds, range, environment: env }),
      enabled: index * agentsPerMetricsRequest <= last && (index + 1) * agentsPerMetricsRequest > first,
    })),
  });
  return new Map(results.flatMap(({ data }) => [...(data ?? [])]));
}

const plain = "px-2 font-medium";

const NarrowHead = () => (
  <tr className="h-8" aria-rowindex={1}>
    <SortHeader field="name" name="Name" className="pl-4" />
    <th scope="col" className="w-32 pr-4 text-right font-medium">
      State and runs
    </th>
  </tr>
);

const WideHead = () => {
  const { range } = route.useSearch();
  const label = rangeLabel(range).toLowerCase();
  return (
    <tr className="h-8" aria-rowindex={1}>
      <SortHeader field="name" name="Name" className="pl-4" />
      <th scope="col" className={`${plain} w-24`}>
        State
      </th>
      <th scope="col" className={`${plain} w-64 xl:w-84`}>
        Live
      </th>
      <th scope="col" className={`${plain} hidden w-36 lg:table-cell xl:w-44`}>
        Model
      </th>
      <th scope="col" className={`${plain} hidden w-40 text-right lg:table-cell`} title={label}>
        Runs
      </th>
      <th scope="col" className={`${plain} hidden w-40 text-right lg:table-cell`} title={label}>
        Errors
      </th>
      <SortHeader field="updated_at" name="Last change" className="w-32 pr-4 text-right" />
    </tr>
  );
};

export function AgentTable({ agents: rows, hasMore, isLoadingMore, onMore }: AgentTableProps) {
  const { env } = route.useSearch();
  const scroller = useRef<HTMLDivElement>(null);
  const isNarrow = useMedia("(max-width: 767px)");
  const Row = isNarrow ? NarrowAgentRow : AgentRow;
  const { virtual, items, first, last } = useVirtualRows({
    scroller,
    count: rows.length,
    rowHeight: isNarrow ? narrowRowHeight : rowHeight,
  });
  const traffic = useTraffic(rows, first, last);
  const active = useQuery(allActiveDeploymentsQuery).data;
  const wantsMore = hasMore && !isLoadingMore && last >= rows.length - fetchAhead;
  useEffect(() => {
    if (wantsMore) onMore();
  }, [wantsMore, onMore]);

  if (rows.length === 0 && !hasMore)
    return <EmptyState title="No agent matches">Change the name or the state in the filters.</EmptyState>;
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <section ref={scroller} aria-label="Agents" className="h-full overflow-auto">
      <table
        aria-rowcount={hasMore ? -1 : rows.length + 1}
        className="w-full table-fixed border-separate border-spacing-0 text-table"
      >
        <thead className="sticky top-0 z-10 bg-page text-left text-muted text-small shadow-[inset_0_-1px_0_var(--line)]">
          {isNarrow ? <NarrowHead /> : <WideHead />}
        </thead>
        <tbody>
          {first > 0 && <tr style={{ height: items[0]?.start }} />}
          {items.map(({ index }) => {
            const agent = rows[index];
            return (
              agent && (
                <Row
                  key={agent.id}
                  agent={agent}
                  index={index}
                  served={active && servedEnvironments(active.get(agent.id) ?? [])}
                  traffic={traffic.get(agent.id)}
                  environment={env}
                  isSettled={!virtual.isScrolling}
                />
              )
            );
          })}
          {below > 0 && <tr style={{ height: below }} />}
        </tbody>
      </table>
      {isLoadingMore && <Working what="more agents" />}
    </section>
  );
}
