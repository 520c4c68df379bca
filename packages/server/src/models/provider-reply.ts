import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import {
  type ModelReply,
  type ModelRequest,
  mostReplyLength,
  PassingModelError,
  PermanentModelError,
  type ToolCall,
} from "./model.ts";

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

/** What is no JSON stays as it came: the tool refuses it, and the model is told. */
function argumentsOf(input: string): unknown {
  if (input.trim() === "") return {};
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/**
 * Gemini refuses a call that comes back without its signature. Nothing else is kept: OpenAI's item ids name things
 * that are not there with `store: false`.
 */
function signatureOf({ providerMetadata = {} }: LanguageModelV4ToolCall): Pick<ToolCall, "providerMetadata"> {
  const signed = Object.values(providerMetadata).find(({ thoughtSignature }) => thoughtSignature);
  return signed ? { providerMetadata: { google: { thoughtSignature: signed.thoughtSignature } } } : {};
}

/** Three bytes for a token: more tokens than any common tokenizer makes of prose, so that a limit holds too early rather than too late. */
const estimate = (...texts: readonly string[]): number => Math.ceil(Buffer.byteLength(texts.join("")) / 3);

function tokensOf(
  usage: LanguageModelV4Usage,
  request: ModelRequest,
  text: string,
  calls: readonly ToolCall[],
): number {
  const counted = (usage.inputTokens.total ?? 0) + (usage.outputTokens.total ?? 0);
  if (counted > 0) return counted;
  return estimate(JSON.stringify(request.messages), JSON.stringify(request.tools), text, JSON.stringify(calls));
}

const noUsage = { inputTokens: {}, outputTokens: {} } as LanguageModelV4Usage;

/** Throws where a finished stream is still no answer. `empty`: neither text nor a call came. */
function refuseNoAnswer(subject: string, { unified, raw }: LanguageModelV4FinishReason, empty: boolean): void {
  const why = raw ? ` (${raw})` : "";
  if (unified === "interrupted") throw new PassingModelError(`${subject} was cut off in the middle of its answer.`);
  if (unified === "error") throw new PassingModelError(`${subject} broke off its answer${why}.`);
  if (!empty) return;
  if (unified === "content-filter")
    throw new PermanentModelError(`${subject} gives no answer: its content filter stopped it${why}.`);
  if (unified === "length")
    throw new PermanentModelError(`${subject} reached its output limit before it said anything${why}.`);
  if (unified === "other") throw new PassingModelError(`${subject} gave an empty answer${why}.`);
}

/** Reads a stream to its end. Text goes to the caller as it comes, unless `signal` says that nobody listens any more. */
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
        arguments: argumentsOf(part.input),
        ...signatureOf(part),
      });
    if (part.type === "text-delta" && part.delta) {
      text += part.delta;
      request.onText(part.delta);
      // No more would be kept: leaving the loop ends the answer.
      if (text.length > mostReplyLength) return { text, toolCalls: [], tokens: tokensOf(noUsage, request, text, []) };
    }
  }
  if (!finish) throw new PassingModelError(`${subject} was cut off in the middle of its answer.`);
  refuseNoAnswer(subject, finish.finishReason, text === "" && toolCalls.length === 0);
  return { text, toolCalls, tokens: tokensOf(finish.usage, request, text, toolCalls) };
}
