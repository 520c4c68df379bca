import type { MemoryHit } from "@perch/sdk";
import { expect, test } from "vitest";
import { explainHit } from "./explain-hit.ts";

const hit = (score_parts: MemoryHit["score_parts"]) => ({ score: 0.227, score_parts }) as MemoryHit;
const vector = { rank: 2, similarity: 0.4847, contribution: 0.091 };
const text = { rank: 1, coverage: 0.667, words: ["late"], contribution: 0.136 };

test("explains both parts of a score and their sum", () => {
  const [meaning, words, sum] = explainHit(hit({ vector, text }), "hybrid");
  expect(meaning).toContain("2nd, with a similarity of 0.48");
  expect(words).toContain("1st, with 67 % of the query's words");
  expect(sum).toContain("0.227");
});

test("names the part that did not find it, and omits a part that was not searched", () => {
  expect(explainHit(hit({ vector, text: null }), "hybrid")[1]).toBe("It has none of the query's words.");
  expect(explainHit(hit({ vector: null, text }), "text").join(" ")).not.toContain("meaning");
  expect(explainHit(hit({ vector, text: null }), "vector").join(" ")).not.toContain("words");
});
