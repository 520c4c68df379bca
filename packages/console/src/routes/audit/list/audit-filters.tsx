import { useQuery } from "@tanstack/react-query";
import { keyNamesQuery } from "../../../api/keys-queries.ts";
import { FilterBar, SelectFilter, TextFilter } from "../../../parts/filters.tsx";
import { keyLabels } from "./key-labels.ts";
import { knownOperations } from "./known-operations.ts";

/** The filters of the audit log, as they are in the address. */
export interface AuditSearch {
  readonly operation?: string | undefined;
  readonly resource?: string | undefined;
  readonly key?: string | undefined;
  readonly outcome?: string | undefined;
}

export const noFilters: AuditSearch = {
  operation: undefined,
  resource: undefined,
  key: undefined,
  outcome: undefined,
};

export const countFilters = ({ operation, resource, key, outcome }: AuditSearch): number =>
  [operation, resource, key, outcome].filter(Boolean).length;

interface AuditFiltersProps {
  readonly search: AuditSearch;
  readonly onChange: (change: AuditSearch) => void;
}

/** A key is chosen by its name; the address has its id, which stays. */
export function AuditFilters({ search, onChange }: AuditFiltersProps) {
  const { data: names } = useQuery(keyNamesQuery);
  const ids = keyLabels(names ?? new Map());
  const labelOf = (id: string | undefined) => [...ids].find(([, known]) => known === id)?.[0] ?? id;
  return (
    <FilterBar count={countFilters(search)} onClear={() => onChange(noFilters)}>
      <TextFilter
        label="Operation"
        value={search.operation}
        onChange={(operation) => onChange({ operation })}
        suggestions={knownOperations}
        isFirst
      />
      <TextFilter label="Resource" value={search.resource} onChange={(resource) => onChange({ resource })} />
      <TextFilter
        label="Key"
        value={labelOf(search.key)}
        onChange={(text) => onChange({ key: ids.get(text ?? "") ?? text })}
        suggestions={[...ids.keys()]}
      />
      <SelectFilter
        label="Outcome"
        any="Any outcome"
        value={search.outcome}
        onChange={(outcome) => onChange({ outcome })}
        options={["changed", "refused"]}
      />
    </FilterBar>
  );
}
