import { describe, expect, test } from "vitest";
import { createTextDiff, foldTokens, type TextToken } from "./said-text.ts";

/** A small generator with a seed (mulberry32), so that a failure can be seen again. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

// The two faces share their first half, and the last two are halves without a partner.
const pieces = ["a", "b", "é", "😀", "😁", "𝒳", "\ud83d", "\ude00"];
const sound = pieces.slice(0, 6);

function randomText(random: (below: number) => number, from: readonly string[]): string {
  return Array.from({ length: random(12) }, () => from[random(from.length)]).join("");
}

/** Cut anywhere, also within a character. */
function cut(text: string, random: (below: number) => number): string[] {
  const deltas: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = random(4);
    deltas.push(text.slice(at, at + length));
    at += length;
  }
  return deltas;
}

function attempt(before: string, deltas: readonly string[]): TextToken[] {
  const diff = createTextDiff(before);
  return [...deltas.map(diff.append), diff.finish()].filter((token) => token !== undefined);
}

const commonLength = (one: string, other: string): number => {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
};

describe("the text of an attempt after another", () => {
  test("whatever was there and however it is cut, a reader ends with exactly this attempt's text", () => {
    let tokensSeen = 0;
    for (let seed = 1; seed <= 20_000; seed++) {
      const random = randomFrom(seed);
      const before = randomText(random, pieces);
      const text = random(2)
        ? before.slice(0, random(before.length + 1)) + randomText(random, pieces)
        : randomText(random, pieces);
      const tokens = attempt(before, cut(text, random));
      tokensSeen += tokens.length;
      expect(foldTokens([{ offset: 0, text: before }, ...tokens]), `seed ${seed}`).toBe(text);
    }
    expect(tokensSeen).toBeGreaterThan(20_000);
  });

  test("at no time does a reader see anything but a whole beginning of one of the two texts, nor get what it has", () => {
    for (let seed = 1; seed <= 5000; seed++) {
      const random = randomFrom(seed);
      const before = randomText(random, sound);
      const kept = [...before].slice(0, random(6)).join("");
      const text = kept + randomText(random, sound);
      const common = commonLength(before, text);
      let seen = before;
      for (const [i, token] of attempt(before, cut(text, random)).entries()) {
        const label = `seed ${seed}, token ${i}`;
        expect(token.offset, label).toBeLessThanOrEqual(seen.length);
        // At most the shared first half of a character is sent again.
        if (i === 0) expect(token.offset, label).toBeGreaterThanOrEqual(common - 1);
        else expect(token.offset, label).toBe(seen.length);
        expect(token.text.isWellFormed(), label).toBe(true);
        seen = foldTokens([{ offset: 0, text: seen }, token]);
        expect(text.startsWith(seen) && seen.isWellFormed(), label).toBe(true);
      }
    }
  });

  test.each<[string, string, string[], TextToken[]]>([
    [
      "a first attempt is appended",
      "",
      ["he", "llo"],
      [
        { offset: 0, text: "he" },
        { offset: 2, text: "llo" },
      ],
    ],
    ["a repetition says nothing", "hello", ["he", "llo"], []],
    [
      "a repetition that goes on says only what is new",
      "he",
      ["h", "ell", "o"],
      [
        { offset: 2, text: "ll" },
        { offset: 4, text: "o" },
      ],
    ],
    ["another ending replaces the old one", "hello there", ["hello", " you"], [{ offset: 6, text: "you" }]],
    ["a shorter text cuts what is left of the old one", "hello there", ["hello"], [{ offset: 5, text: "" }]],
    ["an empty text leaves nothing", "hello", [], [{ offset: 0, text: "" }]],
    ["half a character waits for the other half", "", ["\ud83d", "\ude00!"], [{ offset: 0, text: "😀!" }]],
    ["characters that differ in their second half are replaced whole", "a😀", ["a😁"], [{ offset: 1, text: "😁" }]],
  ])("%s", (_, before, deltas, tokens) => {
    expect(attempt(before, deltas)).toEqual(tokens);
  });
});
