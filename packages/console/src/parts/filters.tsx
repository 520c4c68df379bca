import { type ChangeEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { Icon } from "./icon.tsx";
import { useElementWidth } from "./use-element-width.ts";

/** A filter in use looks different. */
export const filterClass = (isUsed: boolean): string =>
  classNames(
    "h-8 rounded border px-2 text-table text-text placeholder:text-muted",
    isUsed ? "border-accent bg-accent-soft" : "border-control-line bg-surface",
  );

interface TextFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly suggestions?: readonly string[];
  /** `/` on the keyboard focuses this filter. */
  readonly isFirst?: boolean;
}

/** The input event differs for a chosen suggestion and for the same letters typed, which may be the beginning of a longer name. */
const isChosen = ({ nativeEvent }: ChangeEvent): boolean =>
  !(nativeEvent instanceof InputEvent) || nativeEvent.inputType === "insertReplacementText";

/** The filter takes effect on Enter, on blur, or with a suggestion, because a request for every letter would be too many. */
export function TextFilter({ label, value, onChange, suggestions = [], isFirst = false }: TextFilterProps) {
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
        title={`Only with this ${label.toLowerCase()}`}
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

interface SelectFilterProps {
  readonly label: string;
  /** The label while the filter is not used: "Any status". */
  readonly any: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly options: readonly string[];
}

export const SelectFilter = ({ label, any, value, onChange, options }: SelectFilterProps) => (
  <select
    aria-label={label}
    value={value ?? ""}
    onChange={(event) => onChange(event.target.value || undefined)}
    className={filterClass(value !== undefined)}
  >
    <option value="">{any}</option>
    {options.map((option) => (
      <option key={option} value={option}>
        {option.replaceAll("_", " ")}
      </option>
    ))}
  </select>
);

const roomyWidth = 760;

interface FilterBarProps {
  /** How many filters are in use. */
  readonly count: number;
  readonly onClear: () => void;
  readonly children: ReactNode;
}

/** The filters of a list. On a narrow screen they are behind a button. */
export function FilterBar({ count, onClear, children }: FilterBarProps) {
  const box = useRef<HTMLDivElement>(null);
  const isRoomy = useElementWidth(box) >= roomyWidth;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div ref={box} className="flex flex-col items-start gap-2 pb-3">
      {!isRoomy && (
        <Button data-page-filter aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          Filters{count > 0 && ` (${count})`}
          <Icon name="down" className="size-3.5" />
        </Button>
      )}
      {(isRoomy || isOpen) && (
        <search className="flex flex-wrap items-center gap-2">
          {children}
          {count > 0 && (
            <Button kind="quiet" onClick={onClear}>
              Clear the filters
            </Button>
          )}
        </search>
      )}
    </div>
  );
}
