import { PassThrough } from "node:stream";
import type { RunStep } from "@perch/sdk";
import { describe, expect, test } from "vitest";
import { printSteps } from "../src/output/print-steps.ts";
import { createTerminal } from "../src/terminal.ts";

const step: RunStep = {
  number: 2,
  kind: "tool",
  step: 1,
  call: 1,
  name: "stock",
  attempt: 1,
  status: "retried",
  started_at: "2026-01-31T12:00:00.000Z",
  duration_ms: 4,
  tokens: null,
  reason: "The tool stock answered 503.",
  retry_after_ms: 260,
  input: { sku: "jasmine" },
  output: null,
};

function print(...steps: RunStep[]): string {
  const stdout = new PassThrough();
  const terminal = createTerminal({ stdin: new PassThrough(), stdout, stderr: new PassThrough() }, { NO_COLOR: "1" });
  printSteps(terminal, steps);
  return String(stdout.read() ?? "");
}

describe("the steps of a run on a terminal", () => {
  test("show the step, its duration, why it failed and the next one", () => {
    expect(print(step)).toBe(
      [
        "  2  tool   1.1  stock  retried  4 ms, again after 260 ms",
        "       reason The tool stock answered 503.",
        '       input  {"sku":"jasmine"}',
        "",
      ].join("\n"),
    );
  });

  test("have contents on one line, cut, and nothing that a terminal would obey", () => {
    const output = `first\nsecond\u001b[2J${"x".repeat(500)}`;
    const model = {
      ...step,
      number: 12,
      kind: "model" as const,
      call: null,
      name: "perch/echo",
      attempt: 3,
      tokens: 9,
    };
    const [, , , last = ""] = print({ ...model, status: "completed", retry_after_ms: null, output }).split("\n");
    expect(last).toMatch(/^ {7}output first secondx+…$/);
    expect(last.length).toBeLessThan(230);
    expect(print({ ...model, input: null, reason: null })).toContain("attempt 3, 4 ms, 9 tokens");
  });
});
