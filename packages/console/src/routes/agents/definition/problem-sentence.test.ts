import { expect, test } from "vitest";
import { parseText, rangeOf } from "./agent-document.ts";
import { problemSentence } from "./problem-sentence.ts";

const text = "model: perch/echo\nlogs: some\ntemperature: 3\n";
const { yaml } = parseText(text);
const temperature = { ...rangeOf(yaml, ["temperature"]), field: "temperature", message: "At most 2" };
const logs = { ...rangeOf(yaml, ["logs"]), field: "logs", message: "Expected one of off, shapes, full" };

test("a problem is named with its line and its field", () => {
  expect(problemSentence(text, [temperature])).toBe("Line 3, temperature: at most 2.");
});

test("the first of several problems is named, with their number", () => {
  expect(problemSentence(text, [temperature, logs])).toBe(
    "2 problems. Line 2, logs: expected one of off, shapes, full.",
  );
});

test("a text that is not YAML has a line, and no field", () => {
  const broken = "model: perch/echo\nlogs: [\n";
  expect(problemSentence(broken, parseText(broken).problems)).toMatch(/^Line [23]: \S/);
});
