import { AgentFilter } from "../../../lists/agent-filter.tsx";
import { FilterBar, SelectFilter, TextFilter } from "../../../parts/filters.tsx";
import type { RunsSearch } from "../runs-search.ts";

const statuses = ["running", "waiting", "completed", "failed", "cancelled"];

export const countFilters = (search: RunsSearch): number =>
  [search.agent, search.status, search.session, search.user, search.version].filter(Boolean).length;

interface RunFiltersProps {
  readonly search: RunsSearch;
  readonly onChange: (change: Partial<RunsSearch>) => void;
  readonly onClear: () => void;
}

export const RunFilters = ({ search, onChange, onClear }: RunFiltersProps) => (
  <FilterBar count={countFilters(search)} onClear={onClear}>
    <AgentFilter value={search.agent} onChange={(agent) => onChange({ agent })} />
    <SelectFilter
      label="Status"
      any="Any status"
      value={search.status}
      onChange={(status) => onChange({ status })}
      options={statuses}
    />
    <TextFilter label="User" value={search.user} onChange={(user) => onChange({ user })} />
    <TextFilter label="Session" value={search.session} onChange={(session) => onChange({ session })} />
    <TextFilter label="Version" value={search.version} onChange={(version) => onChange({ version })} />
  </FilterBar>
);
