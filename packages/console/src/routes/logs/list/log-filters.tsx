import { logLevels } from "../../../api/logs-queries.ts";
import { AgentFilter } from "../../../lists/agent-filter.tsx";
import { FilterBar, SelectFilter, TextFilter } from "../../../parts/filters.tsx";
import { countFilters, type LogsSearch, noFilters, noLine } from "../logs-search.ts";

interface LogFiltersProps {
  readonly search: LogsSearch;
  readonly onChange: (change: Partial<LogsSearch>) => void;
}

export const LogFilters = ({ search, onChange }: LogFiltersProps) => (
  <FilterBar count={countFilters(search)} onClear={() => onChange(noFilters)}>
    <AgentFilter value={search.agent} onChange={(agent) => onChange({ agent, ...noLine })} />
    <SelectFilter
      label="Level"
      any="Any level"
      value={search.level}
      onChange={(level) => onChange({ level })}
      options={logLevels}
    />
    <TextFilter label="Text" value={search.contains} onChange={(contains) => onChange({ contains })} />
    <TextFilter label="Run" value={search.request} onChange={(request) => onChange({ request })} />
    <TextFilter label="Version" value={search.version} onChange={(version) => onChange({ version })} />
  </FilterBar>
);
