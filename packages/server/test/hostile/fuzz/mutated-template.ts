import fc, { type Arbitrary } from "fast-check";
import { oddText, wrongValue } from "./odd-values.ts";
import type { RequestTemplate } from "./request-template.ts";
import { KnownValue } from "./schema-arbitrary.ts";

type Path = readonly (string | number)[];
type Change = "replace" | "remove" | "add" | "wrap";

/** The paths of a value and of everything in it, the root first. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (value === null || typeof value !== "object" || value instanceof KnownValue) return [at];
  const inner = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value);
  return [at, ...inner.flatMap(([name, item]) => pathsOf(item, [...at, name]))];
}

interface Mutation {
  readonly change: Change;
  readonly value: unknown;
  readonly name: string;
}

function mutateAt(value: unknown, [first, ...rest]: Path, mutation: Mutation): unknown {
  const { change, value: wrong, name } = mutation;
  if (first === undefined) {
    if (change === "wrap") return [value];
    const isPlain =
      value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof KnownValue);
    return change === "add" && isPlain ? { ...value, [name]: wrong } : wrong;
  }
  if (Array.isArray(value)) return value.map((item, i) => (i === first ? mutateAt(item, rest, mutation) : item));
  const copy = { ...(value as Record<string, unknown>) };
  if (change === "remove" && rest.length === 0) delete copy[first];
  else copy[first] = mutateAt(copy[first], rest, mutation);
  return copy;
}

const parts = ["body", "query", "params"] as const;

/** The same request with one error: a type, a length, a range, an extra or missing field, a null, a nesting. */
export const mutated = (template: Arbitrary<RequestTemplate>): Arbitrary<RequestTemplate> =>
  fc
    .tuple(
      template,
      fc.nat(),
      fc.nat(),
      fc.record({
        change: fc.constantFrom<Change>("replace", "replace", "remove", "add", "wrap"),
        value: wrongValue,
        name: fc.oneof(oddText, fc.constantFrom("extra", "id", "organisation_id", "created_at")),
      }),
    )
    .map(([valid, which, where, mutation]) => {
      const present = parts.filter((part) => part !== "params" || Object.keys(valid.params).length > 0);
      // Prefers the body, because it has the most validation.
      const part = valid.body !== undefined && which % 4 !== 0 ? "body" : (present[which % present.length] ?? "query");
      const paths = pathsOf(valid[part] ?? {});
      const path = paths[where % paths.length] ?? [];
      const changed = mutateAt(valid[part] ?? {}, path, path.length === 0 ? { ...mutation, change: "add" } : mutation);
      return { ...valid, kind: "nearly valid" as const, [part]: changed };
    });
