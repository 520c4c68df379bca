import type { MemoryHit } from "@perch/sdk";
import type { SearchMode } from "../../../api/memory-queries.ts";

const ordinals = new Intl.PluralRules("en", { type: "ordinal" });
const endings: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd", other: "th" };
const ordinal = (rank: number): string => `${rank}${endings[ordinals.select(rank)]}`;

export const percent = (share: number): string => `${Math.round(share * 100)} %`;
/** Cosine similarities can be below zero, which is shown as zero. */
export const shareOf = (value: number): number => Math.min(1, Math.max(0, value));
const points = (value: number): string => value.toFixed(3);

/** Explains the score of a memory: a sentence for the meaning, one for the words, and the sum. */
export function explainHit({ score, score_parts: { vector, text } }: MemoryHit, mode: SearchMode): readonly string[] {
  const byMeaning = vector
    ? `By meaning it is ${ordinal(vector.rank)}, with a similarity of ${vector.similarity.toFixed(2)} to the query, where 1 is identical: ${points(vector.contribution)}.`
    : "By meaning it is not among the nearest.";
  const byWords = text
    ? `By words it is ${ordinal(text.rank)}, with ${percent(text.coverage)} of the query's words, rare ones counting more: ${points(text.contribution)}.`
    : "It has none of the query's words.";
  const total =
    mode === "hybrid"
      ? `Together that is its score of ${points(score)}, which only compares with others of this search.`
      : "Scores only compare with others of the same search.";
  return [...(mode === "text" ? [] : [byMeaning]), ...(mode === "vector" ? [] : [byWords]), total];
}
