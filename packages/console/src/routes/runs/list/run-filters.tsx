import { useQuery } from "@tanstack/react-query";
import { type ChangeEvent, useEffect, useId, useRef, useState } from "react";
import { agentNamesQuery } from "../../../api/run-list-queries.ts";
import { Button } from "../../../parts/button.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { Icon } from "../../../parts/icon.tsx";
import { useElementWidth } from "../../../parts/use-element-width.ts";
import type { RunsSearch } from "../runs-search.ts";

/** A filter in use is seen to be. */
const filterClass = (isUsed: boolean): string =>
  classNames(
    "h-8 rounded border px-2 text-table text-text placeholder:text-muted",
    isUsed ? "border-accent bg-accent-soft" : "border-control-line bg-surface",
  );

const statuses = ["running", "waiting", "completed", "failed", "cancelled"];

interface TextFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly suggestions?: readonly string[];
  /** `/` on the keyboard leads here. */
  readonly isFirst?: boolean;
}

/** Browsers tell a suggestion that was chosen from the same letters typed, which may be the beginning of a longer name. */
const isChosen = ({ nativeEvent }: ChangeEvent): boolean =>
  !(nativeEvent instanceof InputEvent) || nativeEvent.inputType === "insertReplacementText";

/** It takes effect with Enter, when it is left, or with a suggestion: every letter would be a request. */
function TextFilter({ label, value, onChange, suggestions = [], isFirst = false }: TextFilterProps) {
  const id = useId();
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const commit = (complete: string) => {
    const next = complete.trim() || undefined;
    if (next !== value) onChange(next);
  };
  const change = (event: ChangeEvent<HTMLInputElement>) => {
    setText(event.target.value);
    if (isChosen(event)) commit(event.target.value);
  };
  return (
    <>
      <input
        type="text"
        data-page-filter={isFirst ? "" : undefined}
        aria-label={label}
        placeholder={label}
        title={`Only runs with this ${label.toLowerCase()}`}
        value={text}
        list={suggestions.length > 0 ? id : undefined}
        autoComplete="off"
        spellCheck={false}
        onBlur={() => commit(text)}
        onKeyDown={(event) => event.key === "Enter" && commit(text)}
        onChange={change}
        className={classNames(filterClass(value !== undefined), "w-36")}
      />
      {suggestions.length > 0 && (
        <datalist id={id}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  );
}

interface RunFiltersProps {
  readonly search: RunsSearch;
  readonly onChange: (change: Partial<RunsSearch>) => void;
  readonly onClear: () => void;
}

const StatusFilter = ({ search, onChange }: Omit<RunFiltersProps, "onClear">) => (
  <select
    aria-label="Status"
    value={search.status ?? ""}
    onChange={(event) => onChange({ status: event.target.value || undefined })}
    className={filterClass(search.status !== undefined)}
  >
    <option value="">Any status</option>
    {statuses.map((status) => (
      <option key={status} value={status}>
        {status}
      </option>
    ))}
  </select>
);

export const countFilters = (search: RunsSearch): number =>
  [search.agent, search.status, search.session, search.user, search.version].filter(Boolean).length;

const roomyWidth = 760;

/** The filters of the list. Where there is little room they are behind a button. */
export function RunFilters({ search, onChange, onClear }: RunFiltersProps) {
  const box = useRef<HTMLDivElement>(null);
  const isRoomy = useElementWidth(box) >= roomyWidth;
  const [isOpen, setIsOpen] = useState(false);
  const count = countFilters(search);
  return (
    <div ref={box} className="flex flex-col items-start gap-2 pb-3">
      {!isRoomy && (
        <Button data-page-filter aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          Filters{count > 0 && ` (${count})`}
          <Icon name="down" className="size-3.5" />
        </Button>
      )}
      {(isRoomy || isOpen) && <FilterFields search={search} onChange={onChange} onClear={onClear} />}
    </div>
  );
}

function FilterFields({ search, onChange, onClear }: RunFiltersProps) {
  const { data: agents } = useQuery(agentNamesQuery);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <TextFilter
        label="Agent"
        value={search.agent}
        onChange={(agent) => onChange({ agent })}
        suggestions={agents ?? []}
        isFirst
      />
      <StatusFilter search={search} onChange={onChange} />
      <TextFilter label="User" value={search.user} onChange={(user) => onChange({ user })} />
      <TextFilter label="Session" value={search.session} onChange={(session) => onChange({ session })} />
      <TextFilter label="Version" value={search.version} onChange={(version) => onChange({ version })} />
      {countFilters(search) > 0 && (
        <Button kind="quiet" onClick={onClear}>
          Clear the filters
        </Button>
      )}
    </search>
  );
}
