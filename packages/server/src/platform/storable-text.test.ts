import { describe, expect, test } from "vitest";
import { isNestedTooDeep, storableJson, storableText } from "./storable-text.ts";

const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);

describe("storableText", () => {
  test("leaves out NULs and replaces halves of characters", () => {
    expect(storableText("a\0b\ud83d")).toBe("ab\ufffd");
    // Without the NUL, the two halves would form one character that was not sent.
    expect(storableText("\ud83d\0\ude00")).toBe("\ufffd\ufffd");
    expect(storableText("\u{1f600}\u202e\u0007")).toBe("\u{1f600}\u202e\u0007");
  });

  test("cuts before it replaces: half a character at the cut is none", () => {
    expect(storableText("a\u{1f600}", 2)).toBe("a\ufffd");
  });
});

describe("storableJson", () => {
  test("makes texts and names storable at every depth", () => {
    const odd = { "a\0": ["\0b", { "\ud83d": "c\ude00" }], plain: [1, true, null] };
    expect(storableJson(odd)).toEqual({ a: ["b", { "\ufffd": "c\ufffd" }], plain: [1, true, null] });
  });

  test("has no number that JSON lacks", () => {
    expect(storableJson(JSON.parse('{"a":1e400,"b":-1e400,"c":1e308}'))).toEqual({ a: null, b: null, c: 1e308 });
    expect(storableJson(Number.NaN)).toBeNull();
  });

  test("keeps __proto__ as a name and changes no prototype", () => {
    const stored = storableJson(JSON.parse('{"__proto__":{"polluted":"yes\\u0000"}}'));
    expect(JSON.stringify(stored)).toBe('{"__proto__":{"polluted":"yes"}}');
    expect({}).not.toHaveProperty("polluted");
  });

  test("keeps 64 levels, and marks where there were more", () => {
    expect(storableJson(nested(64))).toEqual(nested(64));
    const text = JSON.stringify(storableJson(nested(100_000)));
    expect(text).toBe(`${"[".repeat(64)}"[nested more than 64 deep]"${"]".repeat(64)}`);
  });

  test("reports beforehand which texts it would shorten", () => {
    expect(isNestedTooDeep(nested(64))).toBe(false);
    expect(isNestedTooDeep(nested(65))).toBe(true);
    expect(isNestedTooDeep(nested(100_000))).toBe(true);
    expect(isNestedTooDeep("text")).toBe(false);
  });
});
