import { expect, test } from "vitest";
import { markWords } from "./marked-words.ts";

const markedIn = (text: string, ...words: string[]) =>
  markWords(text, words)
    .filter(({ isMatch }) => isMatch)
    .map(({ text: word }) => word);

test("marks words by their indexed form, in any case", () => {
  expect(markedIn("Orders arrived LATE; two deliveries, one delivery.", "order", "arriv", "late", "deliveri")).toEqual([
    "Orders",
    "arrived",
    "LATE",
    "deliveries",
    "delivery",
  ]);
});

test("marks no word that only contains another, and none that is shorter", () => {
  expect(markedIn("A border, an ore, and reordered tea", "order", "tea")).toEqual(["tea"]);
});

test("the pieces are the text", () => {
  const text = "Prefers jasmine tea,\nand drinks no coffee.";
  expect(
    markWords(text, ["tea"])
      .map((piece) => piece.text)
      .join(""),
  ).toBe(text);
  expect(markWords("", ["tea"])).toEqual([]);
});
