import { type ErrorDetail, type Operation, type OperationKey, operationKeys, operations } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { ApiError } from "../platform/api-error.ts";
import { createParseInput } from "./parse-input.ts";

function detailsOf(key: OperationKey, part: "query" | "body", value: unknown): readonly ErrorDetail[] {
  try {
    // Without the path's parameters, which these tests do not cover.
    createParseInput({ ...operations[key], params: undefined } as unknown as Operation)({
      params: {},
      query: part === "query" ? value : {},
      body: part === "body" ? value : undefined,
    });
  } catch (error) {
    if (error instanceof ApiError) return error.details ?? [];
    throw error;
  }
  return [];
}

const webhook = (events: unknown) => detailsOf("POST /v1/webhooks", "body", { url: "https://a.example", events });

describe("what a refusal says about a value", () => {
  test.each(["x", "", "a text that is longer than the longest list", {}, null, 5, true])(
    "events of %j: that an array of event names is expected, and nothing else",
    (events) => {
      verifies("errors.validation-details");
      expect(webhook(events)).toEqual([
        { field: "events", error: 'Expected an array of event names, such as ["agent.completed"]' },
      ]);
    },
  );

  test("lengths are checked only if the type is right", () => {
    expect(webhook([])).toEqual([{ field: "events", error: "Too small: expected array to have >=1 items" }]);
    expect(detailsOf("POST /v1/agents/{agent_id}/invoke", "body", { message: "" })).toEqual([
      { field: "message", error: "Too small: expected string to have >=1 characters" },
    ]);
  });

  test("kinds of tools and whole numbers are named as a reader of JSON knows them", () => {
    const agent = { name: "bot", model: "perch/echo" };
    expect(detailsOf("POST /v1/agents", "body", { ...agent, tools: [{ type: "shell" }] })).toEqual([
      { field: "tools.0.type", error: 'Invalid option: expected one of "mcp"|"http"|"ask_person"' },
    ]);
    expect(detailsOf("POST /v1/agents", "body", { ...agent, limits: { max_steps: 1.5 } })).toEqual([
      { field: "limits.max_steps", error: "Invalid input: expected a whole number" },
    ]);
    expect(detailsOf("POST /v1/agents/{agent_id}/memory/search", "body", { query: "x", metadata: ["a"] })).toEqual([
      { field: "metadata", error: "Invalid input: expected object, received array" },
    ]);
  });

  const wrongValues = ["x", "", "x".repeat(10_000), 7, 1.5, true, null, [], {}, ["x"], [1], [null], [{ type: "nope" }]];
  const cases = operationKeys.flatMap((key) => {
    const operation: Operation = operations[key];
    return (["query", "body"] as const).flatMap((part) =>
      Object.keys(operation[part]?.shape ?? {}).map((field) => ({ key, part, field })),
    );
  });

  test("in every field of every operation, a wrong type is the only reason, in words that a reader of JSON knows", () => {
    expect(cases.length).toBeGreaterThan(150);
    for (const { key, part, field } of cases)
      for (const value of wrongValues) {
        const details = detailsOf(key, part, { [field]: value }).filter((detail) => detail.field === field);
        const shown = `${key} ${field} = ${JSON.stringify(value).slice(0, 40)}: ${JSON.stringify(details)}`;
        if (details.some(({ error }) => error.includes("received"))) expect(details.length, shown).toBe(1);
        for (const { error } of details)
          expect(error, shown).not.toMatch(/record|discriminator|expected int|ISO|^Invalid input$/);
      }
  });
});
