import { AgentFilter } from "../../../lists/agent-filter.tsx";
import { FilterBar, SelectFilter, TextFilter } from "../../../parts/filters.tsx";
import { type ApprovalsSearch, countFilters } from "../approvals-search.ts";

const otherStatuses = ["any", "approved", "rejected", "answered", "expired", "cancelled"];

interface ApprovalFiltersProps {
  readonly search: ApprovalsSearch;
  readonly onChange: (change: ApprovalsSearch) => void;
  readonly onClear: () => void;
}

export const ApprovalFilters = ({ search, onChange, onClear }: ApprovalFiltersProps) => (
  <FilterBar count={countFilters(search)} onClear={onClear}>
    <AgentFilter value={search.agent} onChange={(agent) => onChange({ agent })} />
    <SelectFilter
      label="Status"
      any="open"
      value={search.status}
      onChange={(status) => onChange({ status })}
      options={otherStatuses}
    />
    <SelectFilter
      label="Kind"
      any="Any kind"
      value={search.kind}
      onChange={(kind) => onChange({ kind })}
      options={["tool", "question"]}
    />
    <TextFilter label="User" value={search.user} onChange={(user) => onChange({ user })} />
  </FilterBar>
);
