import { AgentFilter } from "../../../lists/agent-filter.tsx";
import { FilterBar, SelectFilter, TextFilter } from "../../../parts/filters.tsx";

export interface ConnectionsSearch {
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly tool?: string | undefined;
  readonly status?: string | undefined;
}

/** The agent stays, because the list needs one. */
export const noFilters: Partial<ConnectionsSearch> = { user: undefined, tool: undefined, status: undefined };

const statuses = ["pending", "active", "needs_reauth", "revoked"] as const;

export const toStatus = (text: string | undefined) => statuses.find((status) => status === text);

interface ConnectionFiltersProps {
  readonly search: ConnectionsSearch;
  readonly agent: string | undefined;
  /** The caller has access to this agent only. */
  readonly isFixed: boolean;
  readonly onChange: (change: Partial<ConnectionsSearch>) => void;
}

export const ConnectionFilters = ({ search, agent, isFixed, onChange }: ConnectionFiltersProps) => (
  <FilterBar
    count={[search.user, search.tool, search.status].filter(Boolean).length}
    onClear={() => onChange(noFilters)}
  >
    {!isFixed && <AgentFilter value={agent} onChange={(next) => onChange({ agent: next })} />}
    <SelectFilter
      label="Status"
      any="Any status"
      value={toStatus(search.status)}
      onChange={(status) => onChange({ status })}
      options={statuses}
    />
    <TextFilter label="User" value={search.user} onChange={(user) => onChange({ user })} />
    <TextFilter label="Tool" value={search.tool} onChange={(tool) => onChange({ tool })} />
  </FilterBar>
);
