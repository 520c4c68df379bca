import { expect, test } from "vitest";
import { beginningOf, formatBytes, visiblePieces, visibleText } from "./visible-text.ts";

test("a character that is invisible or reverses its neighbours is shown by its number", () => {
  expect(visibleText("pay\u202Egnp.exe")).toBe("pay⟨U+202E⟩gnp.exe");
  for (const hidden of ["\u0000", "\u001B", "\u0085", "\u00AD", "\u200B", "\u2066", "\u2028", "\uFEFF", "\u{E0041}"])
    expect(visiblePieces(`a${hidden}b`)).toMatchObject([{ isMark: false }, { isMark: true }, { isMark: false }]);
});

test("line breaks, tabs, emoji of several people and scripts with joiners stay as they are", () => {
  for (const text of ["a\n\tb", "👩‍👩‍👧", "می‌خواهم", "مرحبا"])
    expect(visiblePieces(text)).toEqual([{ text, isMark: false }]);
  expect(visibleText("a\r\nb")).toBe("a\nb");
});

test("a text full of hidden characters becomes one piece, because each piece is a DOM element", () => {
  expect(visiblePieces("\u0000a".repeat(100_000))).toHaveLength(1);
});

test("the beginning of a text does not end in half a character", () => {
  expect(beginningOf("ab😀", 3)).toBe("ab");
  expect(beginningOf("ab😀", 4)).toBe("ab😀");
});

test("sizes are short", () => {
  expect([312, 4200, 1_048_576].map(formatBytes)).toEqual(["312 bytes", "4.2 kB", "1.0 MB"]);
});
