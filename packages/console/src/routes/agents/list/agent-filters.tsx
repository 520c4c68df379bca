import { getRouteApi } from "@tanstack/react-router";
import { Select, TextInput } from "../../../parts/field.tsx";
import { parseAgentsSearch } from "../agents-search.ts";

const route = getRouteApi("/signed-in/agents");

/** The filters of the list. They are in the address, so typing replaces the entry in the browser's history. */
export function AgentFilters({ count }: { readonly count: string }) {
  const { q, status } = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: Record<string, unknown>) =>
    void navigate({
      search: (search) => ({ ...search, ...parseAgentsSearch({ ...search, ...changed }) }),
      replace: true,
    });
  return (
    <search className="flex flex-wrap items-center gap-2 pb-3">
      <TextInput
        type="search"
        aria-label="Filter agents by name"
        placeholder="Filter by name"
        className="max-w-64 text-table"
        value={q ?? ""}
        onChange={({ target }) => change({ q: target.value })}
      />
      <Select
        aria-label="State"
        className="text-table"
        value={status ?? ""}
        onChange={({ target }) => change({ status: target.value })}
      >
        <option value="">Any state</option>
        <option value="running">Running</option>
        <option value="paused">Paused</option>
      </Select>
      <span className="ml-auto text-muted text-small">{count}</span>
    </search>
  );
}
