import { useContext, useState } from "react";
import { classNames } from "./class-names.ts";
import { type ContentField, jsonIn, toCopy, toFields, toJson } from "./content-text.ts";
import { CopyButton } from "./copy-button.tsx";
import { HeadingLevel } from "./heading-level.ts";
import { OutsideText } from "./outside-text.tsx";

const boxClass = "overflow-auto rounded border border-line bg-sunken px-3 py-2";

const FieldText = ({ field }: { readonly field: ContentField }) => (
  <div className="flex flex-col gap-0.5">
    {field.name !== undefined && (
      <OutsideText text={field.name.replaceAll("_", " ")} className="text-muted text-small" />
    )}
    <OutsideText block text={field.text} className={field.isJson ? "font-mono text-small" : "text-table"} />
  </div>
);

const TextView = ({ value }: { readonly value: unknown }) => (
  <div className="flex flex-col gap-2">
    {toFields(value).map((field) => (
      <FieldText key={field.name ?? ""} field={field} />
    ))}
  </div>
);

type View = "text" | "json";

interface ViewChoiceProps {
  readonly view: View;
  readonly onChange: (view: View) => void;
  readonly what: string;
}

const ViewChoice = ({ view, onChange, what }: ViewChoiceProps) => (
  <fieldset className="flex items-center rounded border border-line text-small">
    <legend className="sr-only">How to show {what}</legend>
    {(["text", "json"] as const).map((name) => (
      <button
        key={name}
        type="button"
        aria-pressed={view === name}
        onClick={() => onChange(name)}
        className={classNames("h-6 rounded px-2", view === name ? "bg-accent-soft text-text" : "text-muted")}
      >
        {name === "text" ? "Text" : "JSON"}
      </button>
    ))}
  </fieldset>
);

interface ContentViewProps {
  readonly title: string;
  /** The name of the content in the label of the copy button: "the message". */
  readonly what: string;
  readonly value: unknown;
  /** The class of the title, for a view above the steps of a run that leaves room for them. */
  readonly level?: 2;
}

/** A content as text or as JSON, to read and to copy. Markdown stays text. */
export function ContentView({ title, what, value, level }: ContentViewProps) {
  const inner = useContext(HeadingLevel);
  const Heading = `h${level ?? inner}` as const;
  const hasJson = typeof value !== "string" || jsonIn(value) !== undefined;
  const [view, setView] = useState<View>("text");
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex h-6 items-center gap-2">
        <Heading className="text-table">{title}</Heading>
        <span className="ml-auto" />
        {hasJson && <ViewChoice view={view} onChange={setView} what={what} />}
        <CopyButton text={toCopy(value)} what={what} />
      </div>
      <fieldset
        aria-label={title}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it; a section would be a landmark, and several of a page have this name.
        tabIndex={0}
        className={classNames(boxClass, level === 2 ? "max-h-48" : "max-h-[50vh]")}
      >
        {hasJson && view === "json" ? (
          <OutsideText block text={toJson(value)} className="font-mono text-small" />
        ) : (
          <TextView value={value} />
        )}
      </fieldset>
    </div>
  );
}
