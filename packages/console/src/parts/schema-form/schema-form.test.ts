import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { SchemaForm } from "./schema-form.tsx";

const address = {
  type: "object",
  properties: { street: { type: "string" }, city: { type: "string" } },
  required: ["street", "city"],
};
const words = { type: "array", items: { type: "string" }, minItems: 1 };

const draw = (value: unknown, required: readonly string[] = []): string =>
  renderToStaticMarkup(
    createElement(SchemaForm, {
      name: "Answer",
      schema: { type: "object", properties: { address, words }, required },
      value,
      onChange: () => undefined,
      problems: new Map(),
    }),
  );

const leftOut = (html: string) => [...html.matchAll(/aria-label="Leave out (\w+)"/g)].map(([, name]) => name);

test("an optional group or list that was begun can be removed again, and is marked as optional", () => {
  expect(leftOut(draw({ address: { street: "" }, words: [] }))).toEqual(["address", "words"]);
  expect(leftOut(draw({}))).toEqual([]);
  expect(draw({})).toContain("address (optional)");
  expect(draw({})).toContain("words (optional)");
});

test("a required group or list cannot be left out", () => {
  const html = draw({ address: {}, words: ["a"] }, ["address", "words"]);
  expect(leftOut(html)).toEqual([]);
  expect(html).not.toContain("(optional)");
});
