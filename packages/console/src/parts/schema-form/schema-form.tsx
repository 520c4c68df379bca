import { type ReactNode, useRef } from "react";
import { Button } from "../button.tsx";
import { OutsideText } from "../outside-text.tsx";
import { visibleText } from "../visible-text.ts";
import { pathTo } from "./check-value.ts";
import { isRecord, kindOf, type Schema, withField } from "./schema-fields.ts";
import { ValueField } from "./value-field.tsx";

export interface ValueProps {
  /** The name of the field; for the value itself, its kind: "Answer". */
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly path: string;
  readonly problems: ReadonlyMap<string, string>;
  readonly depth: number;
}

const Problem = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? null : <p className="text-danger text-small">{text}</p>;

const Description = ({ schema }: Pick<ValueProps, "schema">) =>
  typeof schema.description === "string" && <OutsideText text={schema.description} className="text-muted text-small" />;

const groupClass = "flex min-w-0 flex-col gap-3";

type GroupProps = ValueProps & { readonly children: ReactNode };

/** A list, or an object within another value. An optional one can be removed again. */
function Group({ name, schema, isRequired, value, onChange, path, problems, children }: GroupProps) {
  const box = useRef<HTMLFieldSetElement>(null);
  const what = visibleText(name);
  const leaveOut = () => {
    // The button disappears with the focus, so the focus moves to the box.
    box.current?.focus();
    onChange(undefined);
  };
  return (
    <fieldset ref={box} tabIndex={-1} className={`${groupClass} border-line border-l-2 pl-3 outline-none`}>
      <legend className="mb-1 font-medium text-table [overflow-wrap:anywhere]">
        {what}
        {!isRequired && " (optional)"}
      </legend>
      <Description schema={schema} />
      {children}
      {!isRequired && value !== undefined && (
        <Button kind="quiet" className="self-start" aria-label={`Leave out ${what}`} onClick={leaveOut}>
          Leave out
        </Button>
      )}
      <Problem text={problems.get(path)} />
    </fieldset>
  );
}

function ListField(props: ValueProps & { readonly item: Schema }) {
  const { name, item, value, onChange, path, problems, depth } = props;
  const items = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const what = visibleText(name);
  return (
    <Group {...props}>
      {items.map((each, index) => (
        <div key={index} className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <SchemaValue
              name={`${name} ${index + 1}`}
              schema={item}
              isRequired
              value={each}
              onChange={(next) => onChange(items.map((before, at) => (at === index ? next : before)))}
              path={pathTo(path, index)}
              problems={problems}
              depth={depth + 1}
            />
          </div>
          <Button
            kind="quiet"
            className="mt-6"
            aria-label={`Remove ${what} ${index + 1}`}
            onClick={() => onChange(items.filter((_, at) => at !== index))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button className="self-start" aria-label={`Add item to ${what}`} onClick={() => onChange([...items, undefined])}>
        Add item
      </Button>
    </Group>
  );
}

/** One value by its schema: a field, a list of fields, or the fields of an object. */
export function SchemaValue(props: ValueProps) {
  const { schema, value, onChange, path, problems, depth } = props;
  const kind = kindOf(schema, value, depth);
  if (kind.kind === "list") return <ListField {...props} item={kind.item} />;
  if (kind.kind !== "object") return <ValueField {...props} kind={kind} />;
  const fields = kind.fields.map((field) => (
    <SchemaValue
      key={field.name}
      {...field}
      value={isRecord(value) ? value[field.name] : undefined}
      onChange={(next) => onChange(withField(value, field.name, next))}
      path={pathTo(path, field.name)}
      problems={problems}
      depth={depth + 1}
    />
  ));
  if (depth === 0)
    return (
      <div className={groupClass}>
        {fields}
        <Problem text={problems.get(path)} />
      </div>
    );
  return <Group {...props}>{fields}</Group>;
}

type SchemaFormProps = Pick<ValueProps, "name" | "schema" | "value" | "onChange" | "problems">;

/** A form made from a JSON Schema. Parts that it cannot draw are edited as JSON. */
export const SchemaForm = (props: SchemaFormProps) => <SchemaValue {...props} isRequired path="" depth={0} />;
