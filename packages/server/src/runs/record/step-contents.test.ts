import { describe, expect, test } from "vitest";
import { contentFor, maxContentLength, shapeOf } from "./step-contents.ts";

describe("the shape of a value", () => {
  test("of a text is its length", () => {
    expect(shapeOf("my password is hunter2")).toEqual({ characters: 22 });
    expect(shapeOf("")).toEqual({ characters: 0 });
  });

  test("of an object keeps the names of its fields and no value", () => {
    const shape = shapeOf({ city: "Chemnitz", days: 3, metric: true, unit: null, tags: ["a", "b"], at: { lat: 50.8 } });
    expect(shape).toEqual({
      city: "string(8)",
      days: "number",
      metric: "boolean",
      unit: "null",
      tags: "array(2)",
      at: { lat: "number" },
    });
  });

  test("of nested objects ends at depth 2, and of wide ones at 32 fields", () => {
    expect(shapeOf({ a: { b: { c: "secret" } } })).toEqual({ a: { b: "object(1)" } });
    const wide = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, i]));
    const shape = shapeOf(wide) as Record<string, unknown>;
    expect(Object.keys(shape)).toHaveLength(33);
    expect(shape["…"]).toBe("8 more fields");
  });

  test("of numbers, lists and nothing is their type", () => {
    expect([shapeOf(7), shapeOf([1, 2, 3]), shapeOf(null), shapeOf(false)]).toEqual([
      "number",
      "array(3)",
      "null",
      "boolean",
    ]);
  });

  test("cannot be made long by wide objects in a wide object", () => {
    const wide = (inner: unknown) => Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`field-${i}`, inner]));
    expect(JSON.stringify(shapeOf(wide(wide(1)))).length).toBeLessThan(2048);
    expect(shapeOf(wide(wide(1)))).toMatchObject({ "field-0": "object(32)" });
  });

  test("cannot be made long by the names of fields, nor name a prototype", () => {
    const shape = shapeOf(JSON.parse(`{"${"x".repeat(5000)}": 1, "__proto__": {"admin": true}}`)) as object;
    expect(Object.keys(shape)).toEqual(["x".repeat(64), "__proto__"]);
    expect(JSON.stringify(shape).length).toBeLessThan(200);
    expect((shape as { admin?: unknown }).admin).toBeUndefined();
  });
});

describe("as much of a content as the setting allows", () => {
  const value = { city: "Chemnitz\0" };

  test("is nothing with off, the shape with shapes, all of it with full", () => {
    expect(contentFor("off", value)).toBeUndefined();
    expect(contentFor("shapes", value)).toEqual({ city: "string(9)" });
    expect(contentFor("full", value)).toEqual({ city: "Chemnitz" });
    expect(contentFor("full", undefined)).toBeUndefined();
  });

  test("is cut if it is long, and shows how long it was", () => {
    expect(contentFor("full", "a".repeat(maxContentLength))).toHaveLength(maxContentLength);
    const text = contentFor("full", "a".repeat(maxContentLength + 1)) as string;
    expect(text.endsWith("a… [cut: 32769 characters in all]")).toBe(true);
    const json = contentFor("full", { list: Array.from({ length: 20_000 }, () => 1) }) as string;
    expect(json).toMatch(/^\{"list":\[1,1/);
    expect(json).toMatch(/… \[cut: 40010 characters in all\]$/);
  });
});
