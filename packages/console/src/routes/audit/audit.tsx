import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type AuditFilter, auditLogQuery } from "../../api/audit-queries.ts";
import { PagedList } from "../../lists/paged-list.tsx";
import { useAgentName } from "../../lists/use-agent-name.ts";
import { useKeyName } from "../../lists/use-key-name.ts";
import { Button } from "../../parts/button.tsx";
import { useSearchChange } from "../../parts/change-search.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Page } from "../../parts/page.tsx";
import { rangeLabel } from "../../parts/time-range.ts";
import { AuditFilters, type AuditSearch, countFilters, noFilters } from "./list/audit-filters.tsx";
import { EntryTable } from "./list/entry-table.tsx";

const route = "/signed-in/audit" as const;
const pollMs = 15_000;

interface NoEntriesProps {
  readonly isFiltered: boolean;
  readonly range: string | undefined;
  readonly onClear: () => void;
}

const NoEntries = ({ isFiltered, range, onClear }: NoEntriesProps) => (
  <EmptyState title={isFiltered ? "No entries match" : "Nothing was changed"}>
    <p className="text-muted">
      {rangeLabel(range)}. Every change of agents, deployments, keys, webhooks and settings is an entry here, and so is
      every change that was refused. Entries are kept for 400 days: choose a longer range above.
    </p>
    {isFiltered && (
      <Button className="self-start" onClick={onClear}>
        Clear the filters
      </Button>
    )}
  </EmptyState>
);

/** Who changed what, and who was refused. */
export function AuditLog() {
  const { operation, resource, key, outcome, range, entry } = useSearch({ from: route });
  const search: AuditSearch = { operation, resource, key, outcome };
  const changeSearch = useSearchChange<AuditSearch & { readonly entry?: string | undefined }>();
  const change: typeof changeSearch = (changes) => changeSearch(changes, { resetScroll: false });
  const filter: AuditFilter = { operation, resource, key, outcome: outcome as AuditFilter["outcome"], range };
  const query = useInfiniteQuery({ ...auditLogQuery(filter), refetchInterval: pollMs });
  const names = { ofKey: useKeyName(), ofAgent: useAgentName() };
  return (
    <Page title="Audit log" below={<AuditFilters search={search} onChange={change} />}>
      <PagedList
        query={query}
        what="entries"
        place={{ listing: JSON.stringify(filter), idOf: ({ id }) => id }}
        empty={<NoEntries isFiltered={countFilters(search) > 0} range={range} onClear={() => change(noFilters)} />}
      >
        {(entries) => (
          <EntryTable entries={entries} names={names} opened={entry} onOpen={(id) => change({ entry: id })} />
        )}
      </PagedList>
    </Page>
  );
}
