import { describe, expect, test } from "vitest";
import { createTextDiff, foldTokens, type TextToken } from "./text-diff.ts";

/** A small seeded generator (mulberry32), so that a failure can be reproduced. */
function randomFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

// The two faces share their first surrogate, and the last two are lone surrogates.
const pieces = ["a", "b", "é", "😀", "😁", "𝒳", "\ud83d", "\ude00"];
const wellFormedPieces = pieces.slice(0, 6);

function randomText(random: (limit: number) => number, from: readonly string[]): string {
  return Array.from({ length: random(12) }, () => from[random(from.length)]).join("");
}

/** Splits anywhere, also within a character. */
function splitIntoDeltas(text: string, random: (limit: number) => number): string[] {
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

describe("the text of a second attempt", () => {
  test("whatever the earlier text and however it is split, a reader ends with exactly this attempt's text", () => {
    let tokensSeen = 0;
    for (let seed = 1; seed <= 20_000; seed++) {
      const random = randomFrom(seed);
      const before = randomText(random, pieces);
      const text = random(2)
        ? before.slice(0, random(before.length + 1)) + randomText(random, pieces)
        : randomText(random, pieces);
      const tokens = attempt(before, splitIntoDeltas(text, random));
      tokensSeen += tokens.length;
      expect(foldTokens([{ offset: 0, text: before }, ...tokens]), `seed ${seed}`).toBe(text);
    }
    expect(tokensSeen).toBeGreaterThan(20_000);
  });

  test("a reader always sees a well-formed prefix of one of the two texts, and is not sent what it already has", () => {
    for (let seed = 1; seed <= 5000; seed++) {
      const random = randomFrom(seed);
      const before = randomText(random, wellFormedPieces);
      const prefix = [...before].slice(0, random(6)).join("");
      const text = prefix + randomText(random, wellFormedPieces);
      const common = commonLength(before, text);
      let seen = before;
      for (const [i, token] of attempt(before, splitIntoDeltas(text, random)).entries()) {
        const label = `seed ${seed}, token ${i}`;
        expect(token.offset, label).toBeLessThanOrEqual(seen.length);
        // At most a shared first surrogate is sent again.
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
    ["the same text writes nothing", "hello", ["he", "llo"], []],
    [
      "a longer text writes only what is new",
      "he",
      ["h", "ell", "o"],
      [
        { offset: 2, text: "ll" },
        { offset: 4, text: "o" },
      ],
    ],
    ["another ending replaces the old one", "hello there", ["hello", " you"], [{ offset: 6, text: "you" }]],
    ["a shorter text removes the rest of the old one", "hello there", ["hello"], [{ offset: 5, text: "" }]],
    ["an empty text leaves nothing", "hello", [], [{ offset: 0, text: "" }]],
    ["half a character waits for the other half", "", ["\ud83d", "\ude00!"], [{ offset: 0, text: "😀!" }]],
    ["characters that differ in their second half are replaced whole", "a😀", ["a😁"], [{ offset: 1, text: "😁" }]],
  ])("%s", (_, before, deltas, tokens) => {
    expect(attempt(before, deltas)).toEqual(tokens);
  });
});
