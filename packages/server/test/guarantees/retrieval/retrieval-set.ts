/**
 * The set that memory search is measured with: the memories of a support agent at a maker of garden irrigation, and questions
 * with the memories that answer them. Written by hand, with distractors on purpose: near-identical numbers, old facts
 * beside new ones, and the same facts of other users with other values. It is meant to be hard for every search mode.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/**
 * - paraphrase: no content word in common with the answer
 * - name: a rare or invented name
 * - id: an order number, error code, serial or the like
 * - rare-word: one unusual word that few memories have
 * - typo: one or two words are misspelt
 * - other-users: scoped to a user; the same question has another answer for every user
 * - mixed: ordinary questions
 */
export const queryClasses = ["paraphrase", "name", "id", "rare-word", "typo", "other-users", "mixed"] as const;

const RetrievalMemory = z.strictObject({
  id: z.string(),
  /** The user whose memory it is; undefined for a memory of no user. */
  user_id: z.string().optional(),
  content: z.string(),
});
export type RetrievalMemory = z.infer<typeof RetrievalMemory>;

const RetrievalQuery = z.strictObject({
  class: z.enum(queryClasses),
  query: z.string(),
  /** Only this user's memories are searched. Without one, all are. */
  user_id: z.string().optional(),
  /** Ids of all memories that answer it. */
  answers: z.array(z.string()).min(1).max(3),
  /** Wrong spelling to right. */
  misspelt: z.record(z.string(), z.string()).optional(),
});
export type RetrievalQuery = z.infer<typeof RetrievalQuery>;

const linesOf = <T>(name: string, schema: z.ZodType<T>): T[] =>
  readFileSync(join(import.meta.dirname, name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => schema.parse(JSON.parse(line)));

export const retrievalSet = (): {
  readonly memories: readonly RetrievalMemory[];
  readonly queries: readonly RetrievalQuery[];
} => ({ memories: linesOf("memories.jsonl", RetrievalMemory), queries: linesOf("queries.jsonl", RetrievalQuery) });
