import type { Model } from "./model.ts";

/** Words are as good a count as any for a model that has no tokens. */
export const countTokens = (text: string): number => text.split(/\s+/).filter(Boolean).length;

/** `perch/echo`: says what it was told. Needs no key and gives the same answer every time. */
export const echoModel: Model = async ({ messages, onText }) => {
  const text = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const heard = messages.reduce((sum, { content }) => sum + countTokens(content), 0);
  onText(text);
  return { text, toolCalls: [], tokens: heard + countTokens(text) };
};
