import { PassThrough } from "node:stream";
import type { LogEntry } from "@perch/sdk";
import { describe, expect, test } from "vitest";
import { logLine } from "../src/output/log-line.ts";
import { createTimeFormat } from "../src/output/time.ts";
import { createTerminal } from "../src/terminal.ts";

const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
const terminal = createTerminal(streams, { NO_COLOR: "1" });
const line = (message: string, metadata: object): string => {
  const entry = { timestamp: "2026-01-31T12:00:00.000Z", level: "info", message, metadata };
  return logLine(terminal, createTimeFormat("Europe/Berlin"), entry as unknown as LogEntry);
};

describe("a line of the log", () => {
  test("has the words of people, inputs and outputs last, and the run at the end", () => {
    const call = { type: "model_call", step: 1, model: "perch/echo", tokens: 6, duration_ms: 4 };
    const contents = {
      output: { text: "hi" },
      input: "x",
      environment: "production",
      version: null,
      request_id: "req_1",
    };
    expect(line("Model call: perch/echo", { ...contents, ...call })).toBe(
      '2026-01-31 13:00:00 CET info  Model call: perch/echo draft, step 1, 6 tokens, 4 ms, input x, output {"text":"hi"} req_1',
    );
    const live = { ...call, environment: "production", version: "v1" };
    expect(line("Model call: perch/echo", live)).toContain("in production, version v1");
    const retried = {
      type: "tool_call",
      tool: "order",
      failed: true,
      retry_after_ms: 250,
      next_model: "a/b",
      tool_calls: 2,
    };
    expect(line("Tool call failed", retried)).toContain(
      "tool order, failed, again after 250 ms, next a/b, 2 tool calls",
    );
    const ended = { type: "ended", status: "completed", steps: 1, tokens_used: 6, duration_ms: 9 };
    expect(line("Run completed", ended)).toMatch(/Run completed 1 step, 6 tokens, 9 ms$/);
  });

  test("leaves the fields of entries that others wrote as they are", () => {
    expect(line("Stock is low", { sku: "A-1", stock_left: 2, request_id: null })).toMatch(
      /Stock is low sku=A-1 stock_left=2$/,
    );
  });

  test("has no underscore in a field of Perch's own", () => {
    expect(line("Run completed", { type: "ended", some_new_field: 1 })).toMatch(/Run completed some new field 1$/);
  });
});
