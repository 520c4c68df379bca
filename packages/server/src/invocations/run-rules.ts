import { fenced } from "../memory/memory-rules.ts";
import { type ModelMessage, type ModelReply, mostReplyLength, type ToolCall } from "../models/model.ts";
import { storableText } from "../platform/storable-text.ts";
import type { ToolResult } from "../tools/call-tool.ts";
import { mostRepeated } from "../tools/repeated-call.ts";
import type { Again, Attempt, LogLine, Progress, RunInput, ToolCallResult } from "./run.ts";

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
  { session: { history }, recalled = [], said }: Progress,
): ModelMessage[] {
  const system: ModelMessage[] = definition.instructions ? [{ role: "system", content: definition.instructions }] : [];
  // As the user's words and not as the system's: the weight of an instruction is not for what somebody once said.
  const memory: ModelMessage[] = recalled.length > 0 ? [{ role: "user", content: fenced(recalled) }] : [];
  return [...system, ...history, ...memory, { role: "user", content: message }, ...said];
}

const mostTokens = 2_000_000_000;
/** More calls than this in one reply are a model gone astray: the first ones are made. */
const mostToolCalls = 32;

/** All that was said in one run, in bytes: the journal holds it, and every model call sends it. */
const mostSaid = 8 * 1024 * 1024;

/** Longer texts are cut, and longer arguments become something that no tool takes: the journal keeps both. */
const mostArguments = 256 * 1024;

const mostName = 128;
const mostMetadata = 64 * 1024;

const bounded = (call: ToolCall): ToolCall => ({
  id: storableText(call.id, mostName),
  name: storableText(call.name, mostName),
  arguments:
    (JSON.stringify(call.arguments) ?? "").length <= mostArguments ? call.arguments : "[arguments larger than 256 KiB]",
  ...((JSON.stringify(call.providerMetadata) ?? "").length <= mostMetadata && {
    providerMetadata: call.providerMetadata,
  }),
});

/** A model may say anything; what is kept must be text that a database can hold. */
export const storable = ({ text, toolCalls, tokens }: ModelReply): ModelReply => ({
  text: storableText(text, mostReplyLength),
  toolCalls: toolCalls.slice(0, mostToolCalls).map(bounded),
  tokens: Math.min(Math.max(0, Math.round(tokens)), mostTokens),
});

export const addTokens = ({ tokensUsed }: Progress, { tokens }: ModelReply): number =>
  Math.min(tokensUsed + tokens, mostTokens);

/** What was said and found out, once all tools that the reply calls have answered. */
export function afterTools(
  progress: Progress,
  reply: ModelReply,
  results: readonly ToolResult[],
  log: readonly LogLine[],
): Progress {
  const { text, toolCalls } = reply;
  return {
    ...progress,
    step: progress.step + 1,
    said: [
      ...progress.said,
      { role: "assistant", content: text, toolCalls },
      ...toolCalls.map(({ id, name }, i): ModelMessage => {
        const { content, failed } = results[i] ?? { content: "The tool was not called.", failed: true };
        return { role: "tool", callId: id, name, content, failed };
      }),
    ],
    tokensUsed: addTokens(progress, reply),
    log: [...progress.log, ...log],
  };
}

const sizeOf = (value: unknown): number => (JSON.stringify(value) ?? "").length;

/** Why a run whose conversation has grown beyond all use is stopped; undefined while it may go on. */
export function tooMuchSaid({ said }: Progress, reply: ModelReply): string | undefined {
  const bytes = said.reduce((sum, message) => sum + sizeOf(message), sizeOf(reply));
  return bytes > mostSaid ? `The conversation of the run is larger than ${mostSaid / 2 ** 20} MiB.` : undefined;
}

const mostRepeats = 5;

/** Why a run that only ever makes the same call is stopped; undefined while it gets somewhere. */
export function loopFound({ said }: Progress, toolCalls: readonly ToolCall[]): string | undefined {
  const calls = [
    ...said.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : [])),
    ...toolCalls,
  ];
  const { name, times } = mostRepeated(calls);
  if (times < mostRepeats) return undefined;
  return `The model called the tool ${name} ${times} times with the same arguments: stopped as a loop.`;
}

/** The models of a run, in the order they are tried. */
export const modelsOf = ({ definition: { model, fallback_models, runtime } }: RunInput): readonly string[] =>
  runtime.type === "http" ? [runtime.url] : [model, ...fallback_models];

const firstWaitMs = 250;
const mostWaitMs = 10_000;
/** A model that has others behind it is not waited for any longer. */
const triesBeforeFallback = 3;

/** Twice as long each time, up to a limit, and never quite the same: many runs that failed together do not come back together. */
export const backoffMs = (tries: number, random: number): number =>
  Math.round(Math.min(firstWaitMs * 2 ** (tries - 1), mostWaitMs) * (0.8 + random * 0.4));

export interface Failure {
  readonly message: string;
  readonly passing: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** What to try after a model call that failed: the same again, the next fallback, or nothing: then why, for the run's user. */
export function afterFailure(
  run: RunInput,
  { model, tries, failures, log }: Attempt,
  { message, passing, retryAfterMs }: Failure,
  remainingMs: number,
  random: number,
): Again | { readonly failed: string } {
  const models = modelsOf(run);
  // The last word of each model is enough.
  const told = [...failures.slice(0, model), message];
  const isLast = model >= models.length - 1;
  const waitMs = Math.max(retryAfterMs ?? 0, backoffMs(tries, random));
  if (passing && waitMs < remainingMs && (isLast || (tries < triesBeforeFallback && waitMs <= mostWaitMs * 1.2)))
    return { again: { model, tries: tries + 1, failures: told, log }, afterMs: waitMs };
  if (!isLast) return { again: { model: model + 1, tries: 1, failures: told, log }, afterMs: 0 };
  const why = told.join(" Then: ");
  if (!passing) return { failed: why };
  return { failed: `${why} The run had no time left to try again (limits.timeout_seconds).` };
}

/** A call of a tool that failed in passing is tried again this often; then the model is told, and may find another way. */
export const toolTries = 3;

/** One wait for all calls of a reply that are to be made again. */
export const longestWaitMs = (results: readonly ToolCallResult[]): number =>
  Math.max(0, ...results.map((result) => ("againAfterMs" in result ? result.againAfterMs : 0)));
