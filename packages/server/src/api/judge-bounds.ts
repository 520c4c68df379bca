import type { z } from "zod";

/** Where a value is longer than its schema allows, and what the schema says. */
export interface OutOfBounds {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

type JudgeBounds = (value: unknown) => OutOfBounds | undefined;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const below = (name: PropertyKey, found: OutOfBounds | undefined): OutOfBounds | undefined =>
  found && { ...found, path: [name, ...found.path] };

/** The first that is out of bounds. */
function firstOf<T>(items: Iterable<T>, judge: (item: T) => OutOfBounds | undefined): OutOfBounds | undefined {
  for (const item of items) {
    const found = judge(item);
    if (found) return found;
  }
  return undefined;
}

interface CheckDef {
  readonly check: string;
  readonly maximum?: number;
  /** Of a map: see `boundedRecord` in the contract. */
  readonly params?: { readonly maxEntries?: number };
}

const checksOf = ({ _zod: { def } }: z.core.$ZodType): CheckDef[] =>
  (def.checks ?? []).map((check) => check._zod.def as unknown as CheckDef);

/** The most elements that a list may have. */
export const maxItemsOf = (schema: z.core.$ZodType): number | undefined =>
  checksOf(schema).find(({ check }) => check === "max_length")?.maximum;

/** The most entries that a map may have. */
export const maxEntriesOf = (schema: z.core.$ZodType): number | undefined =>
  checksOf(schema).find(({ params }) => params?.maxEntries !== undefined)?.params?.maxEntries;

function ofArray(schema: z.core.$ZodArray): JudgeBounds {
  const most = maxItemsOf(schema) ?? Number.POSITIVE_INFINITY;
  const judge = boundsOf(schema._zod.def.element);
  return (value) => {
    if (!Array.isArray(value)) return undefined;
    if (value.length > most) return { path: [], message: `Too big: expected array to have <=${most} items` };
    return judge && firstOf(value.entries(), ([index, item]) => below(index, judge(item)));
  };
}

function ofRecord(schema: z.core.$ZodRecord): JudgeBounds {
  const most = maxEntriesOf(schema) ?? Number.POSITIVE_INFINITY;
  const judge = boundsOf(schema._zod.def.valueType);
  return (value) => {
    if (!isObject(value)) return undefined;
    if (Object.keys(value).length > most) return { path: [], message: `At most ${most} entries` };
    return judge && firstOf(Object.entries(value), ([name, item]) => below(name, judge(item)));
  };
}

function ofObject(schema: z.core.$ZodObject): JudgeBounds | undefined {
  const fields = Object.entries(schema._zod.def.shape).flatMap(([name, field]) => {
    const judge = boundsOf(field);
    return judge ? [{ name, judge }] : [];
  });
  if (fields.length === 0) return undefined;
  return (value) =>
    isObject(value) ? firstOf(fields, ({ name, judge }) => below(name, judge(value[name]))) : undefined;
}

/** Whether an option of a union is meant for this value: its fields with one allowed value decide. */
function isFor(option: z.core.$ZodType, value: unknown): boolean {
  const { def } = unwrap(option as z.core.$ZodTypes)._zod;
  if (def.type === "array") return Array.isArray(value);
  if (!isObject(value)) return false;
  if (def.type === "record") return true;
  if (def.type !== "object") return false;
  return Object.entries(def.shape as z.core.$ZodShape).every(([name, field]) => {
    const literal = (field as z.core.$ZodTypes)._zod.def;
    return literal.type !== "literal" || (literal.values as readonly unknown[]).includes(value[name]);
  });
}

/** Out of bounds is what every option that is meant for it refuses. */
function ofUnion(schema: z.core.$ZodUnion): JudgeBounds {
  const options = schema._zod.def.options.map((option) => ({ option, judge: boundsOf(option) }));
  return (value) => {
    const meant = options.filter(({ option }) => isFor(option, value));
    const found = meant.map(({ judge }) => judge?.(value));
    return found.every(Boolean) ? found[0] : undefined;
  };
}

/** The schema itself, without what makes it optional or changes what it accepts. */
function unwrap(schema: z.core.$ZodTypes): z.core.$ZodTypes {
  const { def } = schema._zod;
  if (def.type === "pipe") return unwrap(def.in as z.core.$ZodTypes);
  return "innerType" in def ? unwrap(def.innerType as z.core.$ZodTypes) : schema;
}

/**
 * A judge of nothing but the lengths of lists and maps: the schema itself judges every element before it counts them, and
 * describes each that is wrong. Undefined if it has none.
 */
export function boundsOf(schema: z.core.$ZodType): JudgeBounds | undefined {
  const inner = unwrap(schema as z.core.$ZodTypes);
  if (inner._zod.def.type === "array") return ofArray(inner as z.core.$ZodArray);
  if (inner._zod.def.type === "record") return ofRecord(inner as z.core.$ZodRecord);
  if (inner._zod.def.type === "object") return ofObject(inner as z.core.$ZodObject);
  return inner._zod.def.type === "union" ? ofUnion(inner as z.core.$ZodUnion) : undefined;
}
