import { agentDefaults } from "@perch/contract";
import { describe, expect, test } from "vitest";
import type { RunInput } from "../../engine/messages.ts";
import type { ModelMessage } from "../../outbound/models/model.ts";
import {
  contentsOf,
  contentsOfLine,
  leftOut,
  maxRunContentBytes,
  truncateContents,
  withShapes,
} from "./run-contents.ts";
import { logLine } from "./run-log.ts";

const run = {
  message: "Is the green tea in stock?",
  definition: { ...agentDefaults, model: "perch/script", instructions: "Be brief." },
} as unknown as RunInput;

const call = (name: string, input: unknown) => ({ id: `${name}-id`, name, arguments: input });
const messages: ModelMessage[] = [
  {
    role: "assistant",
    content: "Let me look.",
    toolCalls: [call("stock", { sku: "tea-1" }), call("price", { sku: "tea-1" })],
  },
  { role: "tool", callId: "stock-id", name: "stock", content: "12 packets", failed: false },
  { role: "tool", callId: "price-id", name: "price", content: "The price list is away.", failed: true },
  { role: "assistant", content: "Yes, 12." },
];
const progress = {
  session: { turn: 1, history: [{ role: "user", content: "Hello" } as const] },
  recalled: [{ id: "mem_1", content: "Ada likes tea.", updatedAt: "2026-01-01T00:00:00.000Z", score: 1 }],
  messages,
  toolNames: ["stock", "price"],
};
const contents = contentsOf(run, progress);
const line = (metadata: object) => contentsOfLine(contents, { ...metadata });

describe("the contents of a run's steps", () => {
  test("the first model call has the instructions, the message and what came with it as input", () => {
    expect(line({ type: "model_call", step: 1, model: "perch/script" })).toEqual({
      input: {
        instructions: "Be brief.",
        history: 1,
        memories: ["Ada likes tea."],
        message: "Is the green tea in stock?",
        tools: ["stock", "price"],
      },
      output: {
        text: "Let me look.",
        tool_calls: [
          { name: "stock", arguments: { sku: "tea-1" } },
          { name: "price", arguments: { sku: "tea-1" } },
        ],
      },
    });
  });

  test("a later model call has what is new since the one before as input", () => {
    expect(line({ type: "model_call", step: 2 })).toEqual({
      input: {
        tool_results: [
          { name: "stock", result: "12 packets" },
          { name: "price", result: "The price list is away." },
        ],
      },
      output: { text: "Yes, 12." },
    });
  });

  test("a tool has its arguments as input, and its result as output of the last attempt only", () => {
    const input = { sku: "tea-1" };
    expect(line({ type: "tool_call", step: 1, call: 1 })).toEqual({ input, output: "12 packets" });
    const retried = { type: "tool_call", step: 1, call: 1, failed: true, retry_after_ms: 250 };
    expect(line(retried)).toEqual({ input });
    expect(line({ type: "interrupted", kind: "tool", step: 1, call: 1 })).toEqual({ input });
    const failed = { type: "tool_call", step: 1, call: 2, failed: true };
    expect(line(failed)).toEqual({ input, output: "The price list is away." });
  });

  test("a model call that failed has no output", () => {
    expect(line({ type: "model_call", step: 2, failed: true })).not.toHaveProperty("output");
  });

  test("a recall has the message as input and the memories as output; a listing has the names of tools as output", () => {
    expect(line({ type: "memory" })).toEqual({ input: run.message, output: ["Ada likes tea."] });
    expect(line({ type: "tools", servers: ["docs"] })).toEqual({ output: ["stock", "price"] });
  });

  test("other lines, and steps that never were, have none", () => {
    expect(line({ type: "ended" })).toEqual({});
    expect(line({ type: "toString" })).toEqual({});
    expect(line({ type: "tool_call", step: 7, call: 1 })).toEqual({});
  });
});

test("log lines have shapes of them and no value", () => {
  const lines = [
    logLine(0, "info", "Model call", { type: "model_call", step: 1 }),
    logLine(0, "info", "Tool call", { type: "tool_call", step: 1, call: 1 }),
    logLine(0, "info", "Recalled", { type: "memory", memories: [] }),
  ];
  const [model, tool, memory] = withShapes(lines, contents).map(({ metadata }) => metadata);
  expect(model).toEqual({
    type: "model_call",
    step: 1,
    asked: {
      instructions: "string(9)",
      history: 1,
      memories: "array(1)",
      message: "string(26)",
      tools: "array(2)",
    },
    said: { text: "string(12)", tool_calls: "array(2)" },
  });
  expect(tool).toMatchObject({ asked: { sku: "string(5)" }, said: { characters: 10 } });
  expect(memory).toEqual({ type: "memory", memories: [] });
});

test("log lines have the shape of whatever a model passes to a tool, also of values that are not objects", () => {
  const shapeOfArguments = (input: unknown) => {
    const replies = [{ text: "", calls: [{ name: "stock", arguments: input, result: "12" }] }];
    const called = logLine(0, "info", "Tool call", { type: "tool_call", step: 1, call: 1 });
    return withShapes([called], { message: "Hello", history: 3, replies })[0]?.metadata.asked;
  };
  expect([null, 7, "tea", ["tea"]].map(shapeOfArguments)).toEqual(["null", "number", { characters: 3 }, "array(1)"]);
  // Not the number of earlier messages, which the first model call has under this name.
  expect(shapeOfArguments({ history: "green" })).toEqual({ history: "string(5)" });
});

describe("what is kept of contents", () => {
  test("is all of them if they are small", () => {
    expect(truncateContents(contents)).toEqual(contents);
  });

  test("is at most 1 MiB of a run: a mark stands for each text after that", () => {
    const long = "é".repeat(32_000);
    const replies = Array.from({ length: 40 }, () => ({ text: long, calls: [] }));
    const kept = truncateContents({ message: "Hello", replies });
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(maxRunContentBytes + 40 * 100);
    expect(kept.replies[0]?.text).toBe(long);
    expect(kept.replies.at(-1)?.text).toBe(leftOut);
  });

  test("is without the instructions and tools of a remote agent, which does not get them", () => {
    const runtime = { type: "http", url: "https://agents.example" } as const;
    const remote = { ...run, definition: { ...run.definition, runtime } };
    expect(contentsOf(remote, { ...progress, toolNames: [] })).not.toHaveProperty("instructions");
  });
});
