import type { ModelMessage, ModelReply, ToolCall } from "../models/model.ts";
import type { Progress, RunInput } from "./run.ts";

/** Why a run may not take its next step, in words for its user; undefined when it may. */
export function limitReached(
  { definition: { limits } }: RunInput,
  { step, tokensUsed }: Progress,
  remainingMs: number,
): string | undefined {
  if (remainingMs <= 0) return `The run took longer than ${limits.timeout_seconds} s (limits.timeout_seconds).`;
  if (step > limits.max_steps) return `The run needed more than ${limits.max_steps} model calls (limits.max_steps).`;
  if (tokensUsed >= limits.max_tokens)
    return `The run used ${tokensUsed} tokens, of ${limits.max_tokens} (limits.max_tokens).`;
  return undefined;
}

export function messagesFor(
  { definition, message }: RunInput,
  { session: { history }, said }: Progress,
): ModelMessage[] {
  const system: ModelMessage[] = definition.instructions ? [{ role: "system", content: definition.instructions }] : [];
  return [...system, ...history, { role: "user", content: message }, ...said];
}

/** The one tool every model has: it gives back what it is called with. Others are refused by name, which the model can read. */
const toolResult = ({ name, arguments: input }: ToolCall): string =>
  name === "perch_echo" ? JSON.stringify(input) : `There is no tool ${name}.`;

const mostTokens = 2_000_000_000;

/** A model may say anything; what is kept must be text that a database can hold. */
export const storable = ({ text, toolCalls, tokens }: ModelReply): ModelReply => ({
  text: text.toWellFormed().replaceAll("\0", ""),
  toolCalls,
  tokens: Math.min(Math.max(0, Math.round(tokens)), mostTokens),
});

export function afterReply(progress: Progress, reply: ModelReply): Progress {
  return {
    ...progress,
    step: progress.step + 1,
    said: [
      ...progress.said,
      { role: "assistant", content: reply.text },
      ...reply.toolCalls.map((call): ModelMessage => ({ role: "tool", content: toolResult(call) })),
    ],
    tokensUsed: Math.min(progress.tokensUsed + reply.tokens, mostTokens),
  };
}
