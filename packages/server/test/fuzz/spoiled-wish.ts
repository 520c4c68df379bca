import fc, { type Arbitrary } from "fast-check";
import { oddText, wrongValue } from "./odd-values.ts";
import { Known } from "./schema-arbitrary.ts";
import type { Wish } from "./wish.ts";

type Path = readonly (string | number)[];
type Change = "replace" | "remove" | "add" | "wrap";

/** Every place in a value, the whole first. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (value === null || typeof value !== "object" || value instanceof Known) return [at];
  const inner = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value);
  return [at, ...inner.flatMap(([name, item]) => pathsOf(item, [...at, name]))];
}

interface Spoiling {
  readonly change: Change;
  readonly value: unknown;
  readonly name: string;
}

function spoilAt(value: unknown, [first, ...rest]: Path, spoiling: Spoiling): unknown {
  const { change, value: wrong, name } = spoiling;
  if (first === undefined) {
    if (change === "wrap") return [value];
    const isPlain = value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Known);
    return change === "add" && isPlain ? { ...value, [name]: wrong } : wrong;
  }
  if (Array.isArray(value)) return value.map((item, i) => (i === first ? spoilAt(item, rest, spoiling) : item));
  const copy = { ...(value as Record<string, unknown>) };
  if (change === "remove" && rest.length === 0) delete copy[first];
  else copy[first] = spoilAt(copy[first], rest, spoiling);
  return copy;
}

const parts = ["body", "query", "params"] as const;

/** The same request with one thing wrong: a type, a length, a range, a field too many or too few, a null, a nesting. */
export const spoiled = (wish: Arbitrary<Wish>): Arbitrary<Wish> =>
  fc
    .tuple(
      wish,
      fc.nat(),
      fc.nat(),
      fc.record({
        change: fc.constantFrom<Change>("replace", "replace", "remove", "add", "wrap"),
        value: wrongValue,
        name: fc.oneof(oddText, fc.constantFrom("extra", "id", "organisation_id", "created_at")),
      }),
    )
    .map(([valid, which, where, spoiling]) => {
      const present = parts.filter((part) => part !== "params" || Object.keys(valid.params).length > 0);
      // A body is where most can go wrong.
      const part = valid.body !== undefined && which % 4 !== 0 ? "body" : (present[which % present.length] ?? "query");
      const paths = pathsOf(valid[part] ?? {});
      const path = paths[where % paths.length] ?? [];
      const changed = spoilAt(valid[part] ?? {}, path, path.length === 0 ? { ...spoiling, change: "add" } : spoiling);
      return { ...valid, kind: "nearly valid" as const, [part]: changed };
    });
