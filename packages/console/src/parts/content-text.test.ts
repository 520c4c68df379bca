import { expect, test } from "vitest";
import { extentOf, toCopy, toFields, toJson } from "./content-text.ts";

test("sizes and structure differ from contents, so that the page can explain how to store more", () => {
  expect(extentOf(null)).toBe("nothing");
  for (const shape of [{ characters: 52 }, { text: "string(12)", tool_calls: "array(3)" }, { a: { b: "number" } }])
    expect(extentOf(shape)).toBe("shape");
  for (const content of ["string(12)", { text: "Hello" }, { sku: "jasmine", n: "number" }, {}, [], 0])
    expect(extentOf(content)).toBe("all");
});

test("a text has its own line breaks, other values are JSON, and empty texts are left out", () => {
  expect(toFields({ text: "a\nb", tool_calls: [1], reply: "" })).toEqual([
    { name: "text", text: "a\nb", isJson: false },
    { name: "tool_calls", text: "[\n  1\n]", isJson: true },
  ]);
  expect(toFields("a")).toEqual([{ name: undefined, text: "a", isJson: false }]);
});

test("a text that is JSON is shown as JSON, and any other as it is", () => {
  expect(toJson('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(toJson("{not json")).toBe('"{not json"');
  expect(toJson({ result: '{"a":"[1]"}' })).toBe(JSON.stringify({ result: { a: [1] } }, null, 2));
  expect(toFields({ result: '{"a":1}' })).toEqual([{ name: "result", text: '{\n  "a": 1\n}', isJson: true }]);
});

test("a number beyond JavaScript's precision is shown as it was written, and copying gives the stored text", () => {
  const text = '{"id":12345678901234567890}';
  expect(toFields({ result: text })).toEqual([{ name: "result", text, isJson: false }]);
  expect(toCopy({ result: '{"a":1}' })).toBe('{\n  "result": "{\\"a\\":1}"\n}');
});
