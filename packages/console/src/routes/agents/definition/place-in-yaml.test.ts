import { describe, expect, test } from "vitest";
import { placeInYaml } from "./place-in-yaml.ts";

/** The cursor is where the text ends. */
const placeAtEnd = (text: string) => placeInYaml(text, text.length);

describe("placeInYaml", () => {
  test("a name at the left is a field of the document", () => {
    expect(placeAtEnd("model: perch/echo\nlim")).toEqual({ path: [], kind: "field", typed: "lim" });
  });

  test("a name that is indented is a field of the block above it", () => {
    expect(placeAtEnd("model: perch/echo\nlimits:\n  max_steps: 3\n  ma")).toEqual({
      path: ["limits"],
      kind: "field",
      typed: "ma",
    });
  });

  test("the text after a colon is the value of that field", () => {
    expect(placeAtEnd("memory:\n  recall: t")).toEqual({ path: ["memory", "recall"], kind: "value", typed: "t" });
  });

  test("a field of the second item of a list is found by its number", () => {
    const text = "tools:\n  - type: mcp\n    name: shelf\n  - type: http\n    me";
    expect(placeAtEnd(text)).toEqual({ path: ["tools", 1], kind: "field", typed: "me" });
  });

  test("the first field of an item stands beside its dash", () => {
    expect(placeAtEnd("tools:\n  - ty")).toEqual({ path: ["tools", 0], kind: "field", typed: "ty" });
    expect(placeAtEnd("tools:\n  - type: h")).toEqual({ path: ["tools", 0, "type"], kind: "value", typed: "h" });
  });

  test("an item of the fallback models is a value", () => {
    expect(placeAtEnd("fallback_models:\n  - perch")).toEqual({
      path: ["fallback_models", 0],
      kind: "value",
      typed: "perch",
    });
  });
});
