import { type ReactNode, useEffect, useId, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { Select, TextInput } from "../../../parts/field.tsx";
import { Icon } from "../../../parts/icon.tsx";
import type { PlaygroundSearch } from "../playground-search.ts";
import { CopyLinkButton } from "./copy-link-button.tsx";
import type { useVersionOptions } from "./use-version-options.ts";
import type { ChoiceOption } from "./version-choice.ts";

interface LabelledProps {
  readonly label: string;
  readonly children: (id: string) => ReactNode;
}

const Labelled = ({ label, children }: LabelledProps) => {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-0.5">
      <label htmlFor={id} className="text-muted text-small">
        {label}
      </label>
      {children(id)}
    </div>
  );
};

interface TextControlProps {
  readonly label: string;
  readonly placeholder: string;
  /** A class. */
  readonly width: string;
  readonly value: string | undefined;
  readonly onCommit: (value: string | undefined) => void;
}

/** The address changes when the text is complete, not with every letter. */
function TextControl({ label, placeholder, width, value = "", onCommit }: TextControlProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = () => {
    if (text.trim() !== value) onCommit(text.trim() || undefined);
  };
  return (
    <Labelled label={label}>
      {(id) => (
        <TextInput
          id={id}
          value={text}
          placeholder={placeholder}
          maxLength={256}
          onChange={(event) => setText(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => event.key === "Enter" && commit()}
          className={`w-full font-mono text-table ${width}`}
        />
      )}
    </Labelled>
  );
}

interface ChoiceControlProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly ChoiceOption[];
  readonly onChange: (value: string | undefined) => void;
}

const ChoiceControl = ({ label, value, options, onChange }: ChoiceControlProps) => (
  <Labelled label={label}>
    {(id) => (
      <Select
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value || undefined)}
        className="w-full max-w-full text-table md:w-56"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </Select>
    )}
  </Labelled>
);

interface ControlsProps {
  readonly search: PlaygroundSearch;
  readonly options: ReturnType<typeof useVersionOptions>;
  readonly onChange: (change: Partial<PlaygroundSearch>) => void;
  /** Undefined if the user may not start runs. */
  readonly onNewSession: (() => void) | undefined;
}

/** The settings that are sent with the message, all of which are in the address. On a phone they are folded into one line. */
export function Controls({ search, options, onChange, onNewSession }: ControlsProps) {
  const [isOpen, setIsOpen] = useState(false);
  const { version, compare, user, session } = search;
  const chosen = [options.labelOf(version), user && `as ${user}`, session ?? "new session"];
  return (
    <div className="border-line border-b px-4 py-2">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="flex w-full items-center gap-2 text-left text-table md:hidden"
      >
        <Icon name={isOpen ? "down" : "right"} className="size-3" />
        <span className="truncate">{chosen.filter(Boolean).join(" · ")}</span>
      </button>
      <div
        className={`${isOpen ? "mt-2 grid" : "hidden"} grid-cols-2 items-end gap-x-3 gap-y-2 md:mt-0 md:flex md:flex-wrap`}
      >
        <ChoiceControl
          label="Version"
          value={version ?? ""}
          options={options.versions}
          onChange={(chosenVersion) => onChange({ version: chosenVersion })}
        />
        <ChoiceControl
          label="Compare with"
          value={compare ?? ""}
          options={options.compared}
          onChange={(compared) => onChange({ compare: compared })}
        />
        <TextControl
          label="User"
          placeholder="none"
          width="md:w-36"
          value={user}
          onCommit={(text) => onChange({ user: text })}
        />
        <TextControl
          label="Session"
          placeholder="new with the first message"
          width="md:w-48"
          value={session}
          onCommit={(text) => onChange({ session: text })}
        />
        {onNewSession && (
          <Button onClick={onNewSession} disabled={session === undefined}>
            <Icon name="plus" className="size-3.5" />
            New session
          </Button>
        )}
        <CopyLinkButton />
      </div>
    </div>
  );
}
