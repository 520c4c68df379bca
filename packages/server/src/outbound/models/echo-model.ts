import type { Model } from "./model.ts";

/** Counts words, for models that have no tokenizer. */
export function countTokens(text: string): number {
  let words = 0;
  // One by one: a list of them would be many times as large as the text.
  for (const _ of text.matchAll(/\S+/g)) words++;
  return words;
}

/** `perch/echo`: repeats the last user message. Needs no key and is deterministic. */
export const echoModel: Model = async ({ messages, onText }) => {
  const text = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const promptTokens = messages.reduce((sum, { content }) => sum + countTokens(content), 0);
  onText(text);
  return { text, toolCalls: [], tokens: promptTokens + countTokens(text) };
};
