import { expect, test } from "vitest";
import { fieldsOf, kindOf, Unparsed, withField } from "./schema-fields.ts";

const kind = (schema: object, value?: unknown) => kindOf(schema as Record<string, unknown>, value).kind;

test.each([
  [{ type: "string" }, "a", "text"],
  [{ type: ["string", "null"] }, undefined, "text"],
  [{ type: "integer" }, 3, "number"],
  [{ type: "number" }, new Unparsed("1e"), "number"],
  [{ type: "boolean" }, undefined, "boolean"],
  [{ enum: ["a", 1] }, 1, "choice"],
  [{ const: "a" }, undefined, "choice"],
  [{ type: "array", items: { type: "string" } }, ["a"], "list"],
  [{ type: "object", properties: { a: {} } }, {}, "object"],
] as const)("%j is drawn as a field", (schema, value, expected) => {
  expect(kind(schema, value)).toBe(expected);
});

test.each([
  ["of several types", { type: ["string", "number"] }, "a"],
  ["without a type", {}, "a"],
  ["with branches", { type: "string", anyOf: [{ minLength: 1 }] }, "a"],
  ["of another type than the schema says", { type: "number" }, "250"],
  ["that is none of the choices", { enum: ["a"] }, "b"],
  ["that is null", { type: ["string", "null"] }, null],
  ["of an object without properties", { type: "object" }, {}],
  ["of an object without properties that has fields", { type: "object", additionalProperties: true }, { a: 1 }],
  ["that is half an object without properties", { type: "object" }, new Unparsed("{")],
  ["that is half an object", { type: "object", properties: { a: {} } }, new Unparsed("{")],
  ["that is half a list", { type: "array", items: {} }, new Unparsed("[")],
] as const)("a value %s is JSON, so that nothing of it is lost", (_, schema, value) => {
  expect(kind(schema, value)).toBe("json");
});

test("a schema that nests without end becomes JSON", () => {
  const deep: Record<string, unknown> = { type: "array" };
  deep.items = deep;
  expect(kindOf(deep, undefined, 4).kind).toBe("json");
});

test("a property of the value that the schema does not list is a field too", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  expect(fieldsOf(schema, { b: 1, a: "x" })).toEqual([
    { name: "a", schema: { type: "string" }, isRequired: true },
    { name: "b", schema: {}, isRequired: false },
  ]);
});

test("a field that is cleared is left out, and the others keep their order", () => {
  expect(Object.entries(withField({ a: 1, b: 2, c: 3 }, "b", 5))).toEqual([
    ["a", 1],
    ["b", 5],
    ["c", 3],
  ]);
  expect(withField({ a: 1 }, "a", undefined)).toEqual({});
  expect(withField(undefined, "a", 1)).toEqual({ a: 1 });
});
