import { PerchError } from "@perch/sdk";
import { useState } from "react";
import { checkValue } from "../../../parts/schema-form/check-value.ts";
import { isRecord, type Schema, typeOf, Unparsed } from "../../../parts/schema-form/schema-fields.ts";
import { visibleText } from "../../../parts/visible-text.ts";

export interface Draft {
  readonly value: unknown;
  readonly isChanged: boolean;
  readonly problems: ReadonlyMap<string, string>;
  readonly change: (value: unknown) => void;
  /** Validates the draft; its problems are shown from then on. True if there are none. */
  readonly check: () => boolean;
  /** Shows the server's messages about the fields. False if it has none about them. */
  readonly refuse: (error: unknown) => boolean;
}

/** `arguments.lines.0.sku` is the field `lines.0.sku` of the form. */
const withoutFirst = (field: string): string => field.split(".").slice(1).join(".");

const isOfValue = (field: string): boolean => /^(arguments|answer)(\.|$)/.test(field);

/** A value that the user writes by a schema. It is validated when it is sent, and from then on with every change. */
export function useDraft(schema: Schema, initial: unknown): Draft {
  const [before] = useState(() => initial ?? (typeOf(schema) === "object" ? {} : undefined));
  const [value, setValue] = useState<unknown>(before);
  const [isChecked, setIsChecked] = useState(false);
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const found = isChecked ? checkValue(schema, value) : [];
  return {
    value,
    isChanged: JSON.stringify(value) !== JSON.stringify(before) || hasUnparsed(value),
    problems: new Map([...refused, ...found.map(({ path, text }) => [path, text] as const)]),
    change: (next) => {
      setValue(next);
      setRefused(new Map());
    },
    check: () => {
      setIsChecked(true);
      return checkValue(schema, value).length === 0;
    },
    refuse: (error) => {
      const details = error instanceof PerchError ? error.details.filter(({ field }) => isOfValue(field)) : [];
      setRefused(new Map(details.map(({ field, error: text }) => [withoutFirst(field), visibleText(text)])));
      return details.length > 0;
    },
  };
}

/** Half a number is not JSON, and would look unchanged. */
function hasUnparsed(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasUnparsed);
  return value instanceof Unparsed || (isRecord(value) && Object.values(value).some(hasUnparsed));
}
