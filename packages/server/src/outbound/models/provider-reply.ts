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
const tokensOf = (bytes: number): number => Math.ceil(bytes / 3);
const estimateTokens = (...texts: readonly string[]): number => tokensOf(Buffer.byteLength(texts.join("")));

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

interface ReadRequest extends ModelRequest {
  /** The provider was given the limit, and stops there. */
  readonly isLimited: boolean;
}

/** Tokens of common tokenizers are half as long: an output with more bytes than this for each token is over its limit for certain. */
const maxBytesPerToken = 8;

/** The output that a model is paid for: its answer, its thoughts and the arguments of its tool calls. */
const outputOf = (part: LanguageModelV4StreamPart): string =>
  part.type === "text-delta" || part.type === "reasoning-delta" || part.type === "tool-input-delta" ? part.delta : "";

/** Reads a stream to its end. Text is passed on as it arrives, until `signal` is aborted. */
export async function readReply(
  subject: string,
  stream: ReadableStream<LanguageModelV4StreamPart>,
  request: ReadRequest,
): Promise<ModelReply> {
  let text = "";
  let outputBytes = 0;
  let finish: Finish | undefined;
  const toolCalls: ToolCall[] = [];
  /** Leaving the loop cancels the stream. */
  const stopHere = (): ModelReply => {
    const notText = outputBytes - Buffer.byteLength(text);
    return { text, toolCalls: [], tokens: countTokens(noUsage, request, text, []) + tokensOf(notText) };
  };
  for await (const part of stream) {
    request.signal.throwIfAborted();
    if (part.type === "error") throw part.error;
    outputBytes += Buffer.byteLength(outputOf(part));
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
      // The rest would be truncated.
      if (text.length > maxReplyLength) return stopHere();
    }
    if (outputBytes > request.maxOutputTokens * maxBytesPerToken) return { ...stopHere(), isCutOff: true };
  }
  if (!finish) throw new TransientModelError(`${subject} was cut off in the middle of its answer.`);
  const tokens = countTokens(finish.usage, request, text, toolCalls);
  if (request.isLimited && finish.finishReason.unified === "length")
    return { text, toolCalls: [], tokens, isCutOff: true };
  assertAnswered(subject, finish.finishReason, text === "" && toolCalls.length === 0);
  return { text, toolCalls, tokens };
}
