import { describe, expect, test } from "vitest";
import { parseText, rangeOf, textOf, withField } from "./agent-document.ts";

describe("agent document", () => {
  test.each([
    "",
    "  leading spaces",
    "trailing spaces  \nand a line break\n\n",
    "a: b # not a comment\n- not a list\n---\n",
    '"quotes" \\ and \t tabs',
    "null",
    "1.50",
    "right-to-left \u202e and a bell \u0007",
  ])("a text goes into the YAML and comes out of it as it was: %j", (instructions) => {
    expect(parseText(textOf({ instructions })).document).toEqual({ instructions });
    expect(parseText(withField("model: perch/echo\n", ["instructions"], instructions)).document).toEqual({
      model: "perch/echo",
      instructions,
    });
  });

  test("a long line is not folded", () => {
    const instructions = "long ".repeat(2000);
    expect(textOf({ instructions })).toBe(`instructions: "${instructions}"\n`);
  });

  test("setting a field keeps comments and fields that the form does not know", () => {
    const text = "# ours\nmodel: perch/echo # built in\nsecurity:\n  enforceHttps: true\n";
    expect(withField(text, ["limits", "max_steps"], 3)).toBe(`${text}limits:\n  max_steps: 3\n`);
  });

  test("a problem stands at its field, or at the nearest around a field that is missing", () => {
    const text = "model: perch/echo\ntools:\n  - name: shelf\n";
    const { yaml } = parseText(text);
    const textAt = (path: (string | number)[]) => {
      const { from, to } = rangeOf(yaml, path);
      return text.slice(from, to);
    };
    expect(textAt(["model"])).toBe("perch/echo");
    expect(textAt(["tools", 0, "url"])).toBe("name: shelf\n");
  });

  test("reports where the YAML is broken", () => {
    expect(parseText("model: [").problems[0]?.from).toBeGreaterThan(0);
    expect(parseText("- a list").problems).toHaveLength(1);
  });
});
