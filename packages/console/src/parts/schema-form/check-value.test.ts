import { expect, test } from "vitest";
import { checkValue } from "./check-value.ts";
import { Unparsed } from "./schema-fields.ts";

const refund = {
  type: "object",
  properties: {
    order: { type: "string", pattern: "^[0-9]+$" },
    amount: { type: "number", exclusiveMinimum: 0, maximum: 1000 },
    packets: { type: "integer" },
    currency: { enum: ["EUR", "GBP"] },
    on: { type: "string", format: "date" },
    to: { type: "array", items: { type: "string", format: "email" }, minItems: 1 },
    note: { type: ["string", "null"], minLength: 1, maxLength: 5 },
  },
  required: ["order", "amount"],
  additionalProperties: false,
};

test("a value that fits has no problem", () => {
  const value = {
    order: "42",
    amount: 1,
    packets: 2,
    currency: "EUR",
    on: "2026-12-01",
    to: ["a@b.example"],
    note: null,
  };
  expect(checkValue(refund, value)).toEqual([]);
});

test("every problem stands at its field, named as the API names it", () => {
  const value = {
    order: "x",
    packets: 1.5,
    currency: "USD",
    on: "tomorrow",
    to: ["nobody"],
    note: "too long",
    other: 1,
  };
  expect(Object.fromEntries(checkValue(refund, value).map(({ path, text }) => [path, text]))).toEqual({
    amount: "Required",
    order: "Expected a text that matches ^[0-9]+$",
    packets: "Expected a whole number",
    currency: "Expected one of the choices",
    on: "Expected a date",
    "to.0": "Expected an email address",
    note: "At most 5 characters, and these are 8",
    other: "Not allowed",
  });
});

test.each([
  [{ type: "number", minimum: 1 }, 0, "At least 1"],
  [{ type: "number", exclusiveMinimum: 0 }, 0, "More than 0"],
  [{ type: "number", maximum: 1 }, 2, "At most 1"],
  [{ type: "number" }, new Unparsed("1e"), "Expected a number"],
  [{ type: "object" }, new Unparsed("{"), "This is not JSON"],
  [{}, new Unparsed("{"), "This is not JSON"],
  [{ type: "string" }, 1, "Expected a text"],
  [{ type: "string" }, null, "Expected a text"],
  [{ type: "string", minLength: 1 }, "", "Required"],
  [{ type: "string", format: "uri" }, "example.com", "Expected an address with its scheme"],
  [{ type: "string", format: "date-time" }, "2026-12-01", "Expected a time with its zone"],
  [{ type: "array", minItems: 1 }, [], "At least 1"],
  [{ const: "yes" }, "no", 'Expected "yes"'],
  [{ type: "string" }, undefined, "Required"],
  [{ type: ["string", "number"] }, true, "Expected a text or a number"],
  [{ type: "null" }, 1, "Expected null"],
  [{ type: "string", enum: ["a"] }, 1, "Expected one of the choices"],
] as const)("%j refuses %j", (schema, value, text) => {
  expect(checkValue(schema as never, value)).toEqual([{ path: "", text }]);
});

test("an unfinished value is found inside a list or object whose schema does not describe it", () => {
  const value = { lines: [new Unparsed("{"), undefined], "a/b": new Unparsed("1e") };
  expect(checkValue({ type: "object", properties: { lines: { type: "array" } } }, value)).toEqual([
    { path: "lines.0", text: "This is not JSON" },
    { path: "lines.1", text: "Required" },
    { path: "a/b", text: "This is not JSON" },
  ]);
});

test("the inside of a wrong value is not checked", () => {
  expect(checkValue({ type: "array" }, { a: new Unparsed("{") })).toEqual([{ path: "", text: "Expected a list" }]);
});

test.each([
  [{ minimum: "x", enum: 5, type: 7, required: "a", properties: 3, items: 2 }, { a: 1 }],
  [{ $id: "::no address::", $ref: "#/nowhere" }, 1],
  [{ additionalProperties: { type: "string" } }, { "\uD800": 1 }],
  [{ exclusiveMinimum: true, minimum: 3 }, 3],
])("a schema or a value that is none stops nothing: %j", (schema, value) => {
  expect(checkValue(schema, value)).toEqual([]);
});

test("unknown keywords are left to the server", () => {
  expect(checkValue({ type: "string", format: "ipv4", contentEncoding: "base64" }, "x")).toEqual([]);
  expect(checkValue({ type: "string", format: "constructor" }, "x")).toEqual([]);
  expect(checkValue({ anyOf: [{ type: "string" }] }, 1)).toEqual([]);
});

test.each([
  ["^(a+)+$", `${"a".repeat(40)}!`],
  ["\\d*\\d*\\d*\\d*x", "1".repeat(100)],
  [`${"a?".repeat(40)}${"a".repeat(40)}`, "a".repeat(39)],
  [`${"(a|a)".repeat(40)}b`, "a".repeat(50)],
  ["a*a*b", "a".repeat(20_000)],
])("a pattern that could take for ever is left to the server: %s", (pattern, text) => {
  const startedAt = performance.now();
  expect(checkValue({ type: "string", pattern }, text)).toEqual([]);
  expect(performance.now() - startedAt).toBeLessThan(100);
});

test("the slowest pattern that is checked takes no noticeable time", () => {
  const startedAt = performance.now();
  expect(checkValue({ type: "string", pattern: "a*a*a*b" }, "a".repeat(100))).toHaveLength(1);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});

test("texts of a schema show their hidden characters by name", () => {
  expect(checkValue({ type: "string", pattern: "^\u202Ea$" }, "b")[0]?.text).toContain("U+202E");
  expect(checkValue({ const: "\u202Ea" }, "b")[0]?.text).toContain("U+202E");
});
