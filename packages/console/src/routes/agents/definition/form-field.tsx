import type { ReactNode } from "react";
import { Field, TextInput } from "../../../parts/field.tsx";
import type { Path } from "./agent-document.ts";
import { type Schema, schemaAt } from "./definition-schema.ts";
import type { Definition } from "./use-definition.ts";

/** The props that every part of the form needs. */
export interface FormPart {
  readonly definition: Definition;
  readonly schema: Schema;
}

export const valueAt = ({ parsed }: Definition, path: Path): unknown =>
  path.reduce<unknown>(
    (value, step) =>
      typeof value === "object" && value !== null ? (value as Record<string | number, unknown>)[step] : undefined,
    parsed.document,
  );

/** A field of the document, with the schema's description as its hint and its problem. */
export interface DocumentFieldProps extends FormPart {
  readonly label: string;
  readonly path: Path;
  readonly hint?: ReactNode;
  readonly children: Parameters<typeof Field>[0]["children"];
}

/** Descriptions are written for Markdown; a hint is plain text. */
const plain = (description: string | undefined) => description?.replaceAll("`", "");

export const DocumentField = ({ definition, schema, label, path, hint, children }: DocumentFieldProps) => (
  <Field
    label={label}
    hint={hint ?? plain(schemaAt(schema, path, definition.parsed.document)?.description)}
    problem={definition.problems.get(path.join("."))}
  >
    {children}
  </Field>
);

interface NumberFieldProps extends FormPart {
  readonly label: string;
  readonly path: Path;
  readonly hint?: ReactNode;
  /** The value of an empty field. If absent, the default. */
  readonly empty?: null;
  readonly step?: string;
}

export function NumberField({ label, path, hint, empty, step = "1", ...part }: NumberFieldProps) {
  const value = valueAt(part.definition, path);
  const { minimum, maximum } = schemaAt(part.schema, path, part.definition.parsed.document) ?? {};
  return (
    <DocumentField {...part} label={label} path={path} hint={hint}>
      {(ids) => (
        <TextInput
          {...ids}
          type="number"
          step={step}
          min={minimum}
          max={maximum}
          className="max-w-40"
          placeholder={empty === null ? "default" : undefined}
          value={typeof value === "number" ? value : ""}
          onChange={({ target }) => part.definition.setField(path, target.value === "" ? empty : target.valueAsNumber)}
        />
      )}
    </DocumentField>
  );
}

interface CheckFieldProps extends FormPart {
  readonly label: string;
  readonly path: Path;
}

export function CheckField({ label, path, definition, schema }: CheckFieldProps) {
  const hint = plain(schemaAt(schema, path, definition.parsed.document)?.description);
  return (
    <label className="flex items-start gap-2">
      <input
        type="checkbox"
        className="mt-0.5 size-4 accent-accent"
        checked={valueAt(definition, path) === true}
        onChange={({ target }) => definition.setField(path, target.checked)}
      />
      <span>
        <span className="font-medium text-table">{label}</span>
        <span className="block text-muted text-small">{hint}</span>
      </span>
    </label>
  );
}
