import { expect, test } from "vitest";
import { unknownFields } from "./tool-text.ts";

test("an edit of a tool in the form keeps its policy, which the form does not show", () => {
  const tool = { type: "http", name: "refund", url: "https://shop.example", approval: "always" };
  expect(unknownFields(tool, "http")).toEqual({ approval: "always" });
  expect(unknownFields(tool, "mcp")).toEqual({});
  expect(unknownFields(undefined, "http")).toEqual({});
});
