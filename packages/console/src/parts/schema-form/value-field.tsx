import { type ReactNode, useState } from "react";
import { Field, Select, TextArea, TextInput } from "../field.tsx";
import { OutsideText } from "../outside-text.tsx";
import { visibleText } from "../visible-text.ts";
import { type FieldKind, type TextFormat, Unparsed } from "./schema-fields.ts";
import type { ValueProps } from "./schema-form.tsx";

type OneFieldKind = Exclude<FieldKind, { readonly kind: "list" | "object" }>;
type ControlProps = ValueProps & {
  readonly ids: { readonly id: string; readonly "aria-describedby": string; readonly "aria-invalid": boolean };
};

const inputTypes: Record<TextFormat, string> = { date: "date", "date-time": "text", email: "email", uri: "url" };

/** A cleared text is left out, unless it is required. */
const textOrNothing = (text: string, isRequired: boolean): string | undefined =>
  text === "" && !isRequired ? undefined : text;

function TextControl(props: ControlProps & Extract<FieldKind, { kind: "text" }>) {
  const { ids, value, onChange, isRequired, format, isLong } = props;
  const common = {
    ...ids,
    value: typeof value === "string" ? value : "",
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      onChange(textOrNothing(target.value, isRequired)),
  };
  if (isLong) return <TextArea {...common} />;
  return (
    <TextInput
      {...common}
      type={format ? inputTypes[format] : "text"}
      className={format === "date" ? "max-w-48" : undefined}
      placeholder={format === "date-time" ? "2026-12-31T09:00:00Z" : undefined}
    />
  );
}

const parseNumber = (text: string): unknown => {
  if (text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : new Unparsed(text);
};

const parseJson = (text: string): unknown => {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return new Unparsed(text);
  }
};

const writtenAs = (value: unknown): string => {
  if (value instanceof Unparsed) return value.text;
  return value === undefined ? "" : JSON.stringify(value, null, 2);
};

/** Shows the text exactly as typed; its value is what the text parses to. */
function WrittenControl({ ids, value, onChange, isJson }: ControlProps & { readonly isJson: boolean }) {
  const [typed, setTyped] = useState(() => writtenAs(value));
  const parse = isJson ? parseJson : parseNumber;
  // After an item of a list is removed, its field shows the value of the next item.
  const text = writtenAs(parse(typed)) === writtenAs(value) ? typed : writtenAs(value);
  const change = ({ target }: { readonly target: { readonly value: string } }) => {
    setTyped(target.value);
    onChange(parse(target.value));
  };
  if (isJson)
    return <TextArea {...ids} value={text} onChange={change} spellCheck={false} className="font-mono text-small!" />;
  return <TextInput {...ids} value={text} onChange={change} inputMode="decimal" className="max-w-48" />;
}

interface ChoiceControlProps extends ControlProps {
  readonly choices: readonly unknown[];
  readonly labelOf: (choice: unknown) => string;
}

function ChoiceControl({ ids, value, onChange, isRequired, choices, labelOf }: ChoiceControlProps) {
  const at = choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(value));
  return (
    <Select
      {...ids}
      value={at === -1 ? "" : String(at)}
      onChange={({ target }) => onChange(target.value === "" ? undefined : choices[Number(target.value)])}
      className="max-w-full self-start"
    >
      {(at === -1 || !isRequired) && <option value="">{isRequired ? "Choose" : "not given"}</option>}
      {choices.map((choice, index) => (
        <option key={index} value={String(index)}>
          {labelOf(choice)}
        </option>
      ))}
    </Select>
  );
}

const choiceLabel = (choice: unknown): string =>
  visibleText(typeof choice === "string" ? choice : JSON.stringify(choice));

function control(kind: OneFieldKind, props: ControlProps): ReactNode {
  switch (kind.kind) {
    case "text":
      return <TextControl {...props} {...kind} />;
    case "number":
      return <WrittenControl {...props} isJson={false} />;
    case "boolean":
      return (
        <ChoiceControl {...props} choices={[true, false]} labelOf={(choice) => (choice === true ? "yes" : "no")} />
      );
    case "choice":
      return <ChoiceControl {...props} choices={kind.choices} labelOf={choiceLabel} />;
    case "json":
      return <WrittenControl {...props} isJson />;
  }
}

/** One field with its description. Its kind is decided once, so that the form does not change while the user types. */
export function ValueField({ kind: kindNow, ...props }: ValueProps & { readonly kind: OneFieldKind }) {
  const [kind] = useState(kindNow);
  const { name, schema, isRequired, path, problems } = props;
  const description = typeof schema.description === "string" && <OutsideText text={schema.description} />;
  const hint = kind.kind === "json" ? <>JSON. {description}</> : description;
  return (
    <Field label={`${visibleText(name)}${isRequired ? "" : " (optional)"}`} hint={hint} problem={problems.get(path)}>
      {(ids) => control(kind, { ...props, ids })}
    </Field>
  );
}
