import { describe, expect, test } from "vitest";
import { maxRunContentBytes, truncateContents } from "./run-contents.ts";
import { boundContents, leftOutOfPage, maxPageContentBytes, toSteps } from "./to-step.ts";

/** A run whose second model call, whose input is as much as is kept of a run, was throttled again and again. */
const results = Array.from({ length: 40 }, () => ({ name: "search", arguments: {}, result: "x".repeat(30_000) }));
const contents = truncateContents({ message: "Hello", replies: [{ text: "", calls: results }] });
const throttled = Array.from({ length: 100 }, (_, index) => ({
  at: new Date(0),
  metadata: { type: "model_call", step: 2, model: "acme/large", attempt: index + 1, failed: true, retry_after_ms: 1 },
}));

describe("a page of steps", () => {
  test("has all contents of a few steps, however large these are", () => {
    const steps = toSteps(throttled.slice(0, 2), contents);
    expect(Buffer.byteLength(JSON.stringify(steps))).toBeGreaterThan(maxRunContentBytes);
    expect(boundContents(steps)).toEqual(steps);
  });

  test("is bounded: attempts of one step show the same again and again", () => {
    const steps = boundContents(toSteps(throttled, contents));
    expect(steps).toHaveLength(100);
    expect(steps[0]?.input).toHaveProperty("tool_results");
    expect(steps.at(-1)).toMatchObject({ input: leftOutOfPage, output: null });
    expect(Buffer.byteLength(JSON.stringify(steps))).toBeLessThan(maxPageContentBytes + 100 * 1000);
  });
});
