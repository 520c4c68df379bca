import { agentDefaults } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { checksumOf, type Definition, listChanges, listDifferingFields } from "./version-rules.ts";

const { security: _, ...defaults } = agentDefaults;
const definition = (change: Partial<Definition> = {}): Definition => ({
  ...defaults,
  runtime: { type: "model" },
  model: "perch/echo",
  ...change,
});

type Tool = Definition["tools"][number];
const search: Tool = { type: "mcp", name: "search", url: "https://search.example/mcp" };
const orders: Tool = { type: "mcp", name: "orders", url: "https://orders.example/mcp" };
const book = (parameters: Record<string, unknown> = {}): Tool => ({
  type: "http",
  name: "book",
  description: "Books.",
  method: "POST",
  url: "https://book.example",
  parameters: { type: "object", ...parameters },
});

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
};

describe("the checksum", () => {
  test("does not depend on the order of fields, at any depth", () => {
    const one = definition({ tools: [search, book({ b: { y: 1, x: 2 }, a: [] })] });
    const other = reversed(one) as Definition;
    expect(JSON.stringify(other)).not.toBe(JSON.stringify(one));
    expect(checksumOf(other)).toEqual(checksumOf(one));
    expect(listChanges(one, other)).toEqual([]);
  });

  test("differs for any other definition, the order of tools included", () => {
    const all = [
      definition(),
      definition({ instructions: "x" }),
      definition({ temperature: 0 }),
      definition({ tools: [search, orders] }),
      definition({ tools: [orders, search] }),
      definition({ limits: { ...defaults.limits, max_steps: 21 } }),
    ];
    expect(new Set(all.map((one) => checksumOf(one).toString("hex"))).size).toBe(all.length);
  });
});

describe("the changes", () => {
  test("name the field within an object, and hold both values", () => {
    verifies("version.diff");
    const changed = definition({ temperature: 1, limits: { ...defaults.limits, max_steps: 3 } });
    expect(listChanges(definition(), changed)).toEqual([
      { path: "temperature", from: null, to: 1 },
      { path: "limits.max_steps", from: 20, to: 3 },
    ]);
  });

  test("match tools by name, not by index, and omit the side on which a tool is missing", () => {
    const moved = { ...search, url: "https://elsewhere.example/mcp" };
    expect(listChanges(definition({ tools: [search, book()] }), definition({ tools: [orders, moved] }))).toEqual([
      { path: "tools.search.url", from: search.url, to: moved.url },
      { path: "tools.book", from: book() },
      { path: "tools.orders", to: orders },
    ]);
    expect(listChanges(definition(), definition({ tools: [search] }))).toEqual([{ path: "tools.search", to: search }]);
  });

  test("show the same tools in another order: the checksums differ, so the diff must", () => {
    const [from, to] = [definition({ tools: [search, orders] }), definition({ tools: [orders, search] })];
    expect(listChanges(from, to)).toEqual([{ path: "tools", from: [search, orders], to: [orders, search] }]);
    expect(listDifferingFields(from, to)).toEqual({ fields: ["tools"], text: "tools" });
  });

  test("show items with duplicate names whole, and handle names such as constructor", () => {
    const withDuplicateNames = (n: number) =>
      definition({ tools: [book({ enum: [{ name: "a" }, { name: "a", n }] })] });
    expect(listChanges(withDuplicateNames(1), withDuplicateNames(2)).map(({ path }) => path)).toEqual([
      "tools.book.parameters.enum",
    ]);
    const tricky = { ...search, name: "constructor" };
    expect(listChanges(definition({ tools: [search] }), definition({ tools: [search, tricky] }))).toEqual([
      { path: "tools.constructor", to: tricky },
    ]);
  });

  test("plain lists are shown whole", () => {
    expect(listChanges(definition(), definition({ fallback_models: ["perch/script"] }))).toEqual([
      { path: "fallback_models", from: [], to: ["perch/script"] },
    ]);
  });

  test("in a message, ten are named and the rest are counted", () => {
    const many = (n: number) =>
      definition({
        tools: Array.from({ length: 14 }, (__, i) => ({ ...search, name: `t${i}`, url: `https://x/${n}` })),
      });
    const { fields, text } = listDifferingFields(many(1), many(2));
    expect(fields).toEqual(Array.from({ length: 10 }, (__, i) => `tools.t${i}.url`));
    expect(text).toMatch(/tools\.t9\.url and 4 more$/);
  });
});

describe("a hostile definition", () => {
  test("cannot make the changes much larger than the two definitions are", () => {
    const longName = "x".repeat(20_000);
    const fields = (value: number) => Object.fromEntries(Array.from({ length: 5000 }, (__, i) => [`f${i}`, value]));
    const [from, to] = [1, 2].map((value) => definition({ tools: [book({ [longName]: fields(value) })] }));
    const changes = listChanges(from as Definition, to as Definition);
    expect(changes.map(({ path }) => path.length)).toEqual(["tools.book.parameters.".length + longName.length]);
    expect(JSON.stringify(changes).length).toBeLessThan(2 * JSON.stringify([from, to]).length);
  });

  test("has one change for a field with more than 1,000 changes within it, and others are shown apart", () => {
    const fields = (value: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (__, i) => [`f${i}`, value]));
    const change = (value: number) =>
      definition({ tools: [book({ many: fields(value, 1001), few: fields(value, 2) })] });
    expect(listChanges(change(1), change(2)).map(({ path }) => path)).toEqual([
      "tools.book.parameters.many",
      "tools.book.parameters.few.f0",
      "tools.book.parameters.few.f1",
    ]);
  });

  test("distinguishes an empty list from an empty object, and a missing field from one that every object has", () => {
    const change = (inner: object) => definition({ tools: [book({ inner })] });
    expect(listChanges(change([]), change({}))).toEqual([{ path: "tools.book.parameters.inner", from: [], to: {} }]);
    expect(listChanges(change({}), change({ constructor: 1 }))).toEqual([
      { path: "tools.book.parameters.inner.constructor", to: 1 },
    ]);
  });
});
