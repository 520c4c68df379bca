import { expect, test } from "vitest";
import { blocksOf } from "./long-text.ts";

const line = "The kettle is on the stove and sings. ".repeat(10).trimEnd();
const text = Array.from({ length: 200 }, (_, index) => `${index} ${line}`).join("\n");

test("a short text is one block", () => {
  expect(blocksOf("")).toEqual([""]);
  expect(blocksOf("Hello\nworld")).toEqual(["Hello\nworld"]);
});

test("blocks are the whole text, divided at line breaks", () => {
  expect(blocksOf(text).length).toBeGreaterThan(10);
  expect(blocksOf(text).join("\n")).toBe(text);
});

test("a finished block does not change while the text grows", () => {
  let before: string[] = [];
  for (let length = 0; length < text.length; length += 997) {
    const blocks = blocksOf(text.slice(0, length));
    expect(blocks.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    before = blocks;
  }
});

test("an endless line is divided at spaces, or anywhere if it has none, and nothing is lost", () => {
  for (const endless of ["word ".repeat(20_000), "x".repeat(100_000), `x${"🫖".repeat(50_000)}`]) {
    const blocks = blocksOf(endless);
    expect(blocks.join("")).toBe(endless);
    expect(blocks.every((block) => block.isWellFormed())).toBe(true);
    expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThanOrEqual(16_001);
  }
});
