import { type FormEvent, useEffect, useState } from "react";
import { AgentFilter } from "../../../lists/agent-filter.tsx";
import { Button } from "../../../parts/button.tsx";
import { FilterBar, filterClass, TextFilter } from "../../../parts/filters.tsx";
import { Icon } from "../../../parts/icon.tsx";
import type { MemorySearchParams } from "../memory-search.ts";
import { modeOf } from "../memory-search.ts";

interface MemoryFiltersProps {
  readonly agent: string | undefined;
  readonly search: MemorySearchParams;
  readonly onChange: (change: MemorySearchParams) => void;
  /** False for a key of one agent, which has no other to choose. */
  readonly canChooseAgent: boolean;
}

const modes = [
  { value: "hybrid", label: "By meaning and words" },
  { value: "vector", label: "By meaning" },
  { value: "text", label: "By words" },
];

/** Searches on Enter, because a request for every letter would be too many. */
function SearchBox({ search, onChange }: Pick<MemoryFiltersProps, "search" | "onChange">) {
  const [text, setText] = useState(search.q ?? "");
  useEffect(() => setText(search.q ?? ""), [search.q]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange({ q: text.trim() || undefined });
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2 pb-2">
      <input
        type="search"
        aria-label="Search memories"
        placeholder="Search memories"
        maxLength={8192}
        value={text}
        autoComplete="off"
        onChange={({ target }) => setText(target.value)}
        className={`${filterClass(search.q !== undefined)} min-w-0 max-w-2xl flex-1 basis-64`}
      />
      <select
        aria-label="How to search"
        value={modeOf(search.mode)}
        onChange={({ target }) => onChange({ mode: target.value === "hybrid" ? undefined : target.value })}
        className={filterClass(search.mode !== undefined)}
      >
        {modes.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <Button type="submit">Search</Button>
      {search.q !== undefined && (
        <Button
          kind="quiet"
          className="px-2"
          aria-label="Clear search"
          title="Clear search"
          onClick={() => onChange({ q: undefined })}
        >
          <Icon name="cross" />
        </Button>
      )}
    </form>
  );
}

/** The filters: agent, user, session, and the search text. */
export const MemoryFilters = ({ agent, search, onChange, canChooseAgent }: MemoryFiltersProps) => (
  <>
    {agent !== undefined && <SearchBox search={search} onChange={onChange} />}
    <FilterBar
      count={[search.user, search.session].filter(Boolean).length}
      onClear={() => onChange({ user: undefined, session: undefined })}
    >
      {canChooseAgent && <AgentFilter value={agent} onChange={(chosen) => onChange({ agent: chosen })} />}
      {agent !== undefined && (
        <>
          <TextFilter label="User" value={search.user} onChange={(user) => onChange({ user })} />
          <TextFilter label="Session" value={search.session} onChange={(session) => onChange({ session })} />
        </>
      )}
    </FilterBar>
  </>
);
