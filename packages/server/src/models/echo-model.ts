import type { Model } from "./model.ts";

/** Words are as good a count as any for a model that has no tokens. */
export function countTokens(text: string): number {
  let words = 0;
  // One by one: a list of them would be many times as large as the text.
  for (const _ of text.matchAll(/\S+/g)) words++;
  return words;
}

/** `perch/echo`: says what it was told. Needs no key and gives the same answer every time. */
export const echoModel: Model = async ({ messages, onText }) => {
  const text = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const heard = messages.reduce((sum, { content }) => sum + countTokens(content), 0);
  onText(text);
  return { text, toolCalls: [], tokens: heard + countTokens(text) };
};
