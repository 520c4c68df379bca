import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { versionsQuery } from "../../api/versions-queries.ts";
import { AgentFilter } from "../../lists/agent-filter.tsx";
import { FilterBar, SelectFilter, TextFilter } from "../../parts/filters.tsx";
import { fittingGranularities } from "../../parts/granularity.ts";
import { resolveRange } from "../../parts/time-range.ts";
import { chosenGranularity } from "./chosen-granularity.ts";

const route = getRouteApi("/signed-in/metrics");

interface MetricsSearch {
  readonly agent?: string | undefined;
  readonly granularity?: string | undefined;
  readonly version?: string | undefined;
  readonly compare?: string | undefined;
}

const none: MetricsSearch = { agent: undefined, granularity: undefined, version: undefined, compare: undefined };

interface VersionFiltersProps {
  readonly agent: string;
  readonly search: MetricsSearch;
  readonly onChange: (change: MetricsSearch) => void;
}

const VersionFilters = ({ agent, search, onChange }: VersionFiltersProps) => {
  const { data } = useInfiniteQuery(versionsQuery(agent));
  const labels = data?.pages.flatMap((page) => page.data.map(({ version }) => version)) ?? [];
  return (
    <>
      <TextFilter
        label="Version"
        value={search.version}
        onChange={(version) => onChange({ version })}
        suggestions={labels}
      />
      <TextFilter
        label="Compare with"
        value={search.compare}
        onChange={(compare) => onChange({ compare })}
        suggestions={labels}
      />
    </>
  );
};

/** The agent and its filters. The other filters have no meaning for all agents at once. */
export function MetricFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { agent, range } = search;
  const granularity = chosenGranularity(search.granularity, range);
  const change = (filters: MetricsSearch) => void navigate({ search: (before) => ({ ...before, ...filters }) });
  const { start, end = new Date() } = resolveRange(range, new Date());
  const used = [agent, granularity, search.version, search.compare];
  return (
    <FilterBar count={used.filter(Boolean).length} onClear={() => change(none)}>
      <AgentFilter value={agent} onChange={(next) => change({ ...none, agent: next })} />
      {agent !== undefined && (
        <>
          <SelectFilter
            label="Interval"
            any="Automatic interval"
            value={granularity}
            onChange={(next) => change({ granularity: next })}
            options={fittingGranularities(end.getTime() - start.getTime())}
          />
          <VersionFilters agent={agent} search={search} onChange={change} />
        </>
      )}
    </FilterBar>
  );
}
