import fc from "fast-check";
import { expect, test } from "vitest";
import { hasMoreValues } from "./count-json-values.ts";

/** Values as the text shows them: an empty list or object counts as two. */
function count(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const items = Object.values(value);
  return items.length === 0 ? 2 : items.reduce<number>((sum, item) => sum + count(item), 1);
}

test("any JSON has as many values as its text says, whatever its texts contain", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const values = count([value]);
      const json = JSON.stringify([value]);
      expect([hasMoreValues(json, values), hasMoreValues(json, values - 1)]).toEqual([false, true]);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["a comma in a text", '["a,b{[","\\\\","\\",,,"]', 4],
  ["a text that does not end", '["a,,,,', 2],
  ["backslashes before a quote", '["\\\\\\\\","a,,,"]', 3],
])("%s", (_, json, values) =>
  expect([hasMoreValues(json, values), hasMoreValues(json, values - 1)]).toEqual([false, true]),
);
