import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { isNestedTooDeep } from "../../platform/storable-text.ts";
import {
  type ModelReply,
  type ModelRequest,
  maxReplyLength,
  PermanentModelError,
  type ToolCall,
  TransientModelError,
} from "./model.ts";

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

/** Invalid JSON, and JSON that is nested too deep, is kept as text: the tool rejects it, and the model reads why. */
function parseArguments(input: string): unknown {
  if (input.trim() === "") return {};
  try {
    const parsed: unknown = JSON.parse(input);
    return isNestedTooDeep(parsed) ? input : parsed;
  } catch {
    return input;
  }
}

/**
 * Gemini refuses a call that is sent back without its signature. Nothing else is kept: OpenAI's item ids name things
 * that are not there with `store: false`.
 */
function pickSignature({ providerMetadata = {} }: LanguageModelV4ToolCall): Pick<ToolCall, "providerMetadata"> {
  const signed = Object.values(providerMetadata).find(({ thoughtSignature }) => thoughtSignature);
  return signed ? { providerMetadata: { google: { thoughtSignature: signed.thoughtSignature } } } : {};
}

/** Three bytes for a token: more tokens than any common tokenizer makes of prose, so that a token limit is reached too early rather than too late. */
const estimateTokens = (...texts: readonly string[]): number => Math.ceil(Buffer.byteLength(texts.join("")) / 3);

function countTokens(
  usage: LanguageModelV4Usage,
  request: ModelRequest,
  text: string,
  calls: readonly ToolCall[],
): number {
  const counted = (usage.inputTokens.total ?? 0) + (usage.outputTokens.total ?? 0);
  if (counted > 0) return counted;
  return estimateTokens(JSON.stringify(request.messages), JSON.stringify(request.tools), text, JSON.stringify(calls));
}

const noUsage = { inputTokens: {}, outputTokens: {} } as LanguageModelV4Usage;

/** Throws when a finished stream contains no answer. `empty`: neither text nor a tool call was received. */
function assertAnswered(subject: string, { unified, raw }: LanguageModelV4FinishReason, empty: boolean): void {
  const rawReason = raw ? ` (${raw})` : "";
  if (unified === "interrupted") throw new TransientModelError(`${subject} was cut off in the middle of its answer.`);
  if (unified === "error") throw new TransientModelError(`${subject} broke off its answer${rawReason}.`);
  if (!empty) return;
  if (unified === "content-filter")
    throw new PermanentModelError(`${subject} gives no answer: its content filter stopped it${rawReason}.`);
  if (unified === "length")
    throw new PermanentModelError(`${subject} reached its output limit before it said anything${rawReason}.`);
  if (unified === "other") throw new TransientModelError(`${subject} gave an empty answer${rawReason}.`);
}

/** Reads a stream to its end. Text is passed on as it arrives, until `signal` is aborted. */
export async function readReply(
  subject: string,
  stream: ReadableStream<LanguageModelV4StreamPart>,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelReply> {
  let text = "";
  let finish: Finish | undefined;
  const toolCalls: ToolCall[] = [];
  for await (const part of stream) {
    signal.throwIfAborted();
    if (part.type === "error") throw part.error;
    if (part.type === "finish") finish = part;
    if (part.type === "tool-call" && !part.providerExecuted)
      toolCalls.push({
        id: part.toolCallId,
        name: part.toolName,
        arguments: parseArguments(part.input),
        ...pickSignature(part),
      });
    if (part.type === "text-delta" && part.delta) {
      text += part.delta;
      request.onText(part.delta);
      // The rest would be truncated: leaving the loop cancels the stream.
      if (text.length > maxReplyLength) return { text, toolCalls: [], tokens: countTokens(noUsage, request, text, []) };
    }
  }
  if (!finish) throw new TransientModelError(`${subject} was cut off in the middle of its answer.`);
  assertAnswered(subject, finish.finishReason, text === "" && toolCalls.length === 0);
  return { text, toolCalls, tokens: countTokens(finish.usage, request, text, toolCalls) };
}
