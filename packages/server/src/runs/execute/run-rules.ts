import type { RunInput } from "../../engine/messages.ts";
import { type ModelMessage, type ModelReply, maxReplyLength, type ToolCall } from "../../outbound/models/model.ts";
import { findMostRepeatedCall } from "../../outbound/tools/repeated-calls.ts";
import type { ToolResult } from "../../outbound/tools/tool.ts";
import { storableJson, storableText } from "../../platform/storable-text.ts";
import { formatRecalled } from "../../resources/memory/memory-rules.ts";
import type { Attempt, LogLine, Progress, Retry, RunFailure, ToolCallResult } from "../run.ts";

/** A failure that a new run can escape, because the cause may be gone by then. */
export const transientFailure = (message: string): RunFailure => ({ message, code: "run_failed", retryable: true });

/** A failure that repeats for the same message until the agent is changed. */
export const permanentFailure = (message: string): RunFailure => ({ message, code: "run_failed", retryable: false });

export const deadlineMs = ({ definition }: RunInput, { startedAtMs }: Progress): number =>
  startedAtMs + definition.limits.timeout_seconds * 1000;

/** Why a run may not take its next step; undefined when it may. */
export function limitReached(
  { definition: { limits } }: RunInput,
  { step, tokensUsed }: Progress,
  remainingMs: number,
): RunFailure | undefined {
  if (remainingMs <= 0)
    return transientFailure(
      `The run took longer than ${limits.timeout_seconds} s (limits.timeout_seconds). Raise the limit, or ask for less.`,
    );
  if (step > limits.max_steps)
    return permanentFailure(
      `The run needed more than ${limits.max_steps} model calls (limits.max_steps). Raise the limit, or ask for less.`,
    );
  if (tokensUsed >= limits.max_tokens)
    return permanentFailure(
      `The run used ${tokensUsed} tokens, of ${limits.max_tokens} (limits.max_tokens). Raise the limit, or ask for less.`,
    );
  return undefined;
}

/** How many tokens the next model call may answer with. The run takes no step with none left. */
export const remainingTokens = ({ definition: { limits } }: RunInput, { tokensUsed }: Progress): number =>
  Math.max(1, limits.max_tokens - tokensUsed);

/** Why a run ends whose answer was cut off. */
export const answerCutOff = ({ definition: { limits } }: RunInput): RunFailure =>
  permanentFailure(
    `The answer was cut off, because the run may use ${limits.max_tokens} tokens (limits.max_tokens). Raise the limit, or ask for a shorter answer.`,
  );

export function messagesFor(
  { definition, message }: RunInput,
  { session: { history }, recalled, messages }: Progress,
): ModelMessage[] {
  const system: ModelMessage[] = definition.instructions ? [{ role: "system", content: definition.instructions }] : [];
  // As a user message, not a system message: a memory must not have the weight of an instruction.
  const memory: ModelMessage[] = recalled.length > 0 ? [{ role: "user", content: formatRecalled(recalled) }] : [];
  return [...system, ...history, ...memory, { role: "user", content: message }, ...messages];
}

const maxTokens = 2_000_000_000;
/** The limit for one reply. Further calls are ignored. */
const maxToolCalls = 32;

/** The limit for one run, because the journal contains the conversation and every model call sends it. */
const maxConversationBytes = 8 * 1024 * 1024;

/** Longer arguments are replaced by a text that no tool accepts: the journal contains them. */
const maxArguments = 256 * 1024;

const maxName = 128;
const maxMetadata = 64 * 1024;

const sizeOf = (value: unknown): number => (JSON.stringify(value) ?? "").length;

function toStorableCall(call: ToolCall): ToolCall {
  const [input, providerMetadata] = [storableJson(call.arguments), storableJson(call.providerMetadata)];
  return {
    id: storableText(call.id, maxName),
    name: storableText(call.name, maxName),
    arguments: sizeOf(input) <= maxArguments ? input : "[arguments larger than 256 KiB]",
    ...(sizeOf(providerMetadata) <= maxMetadata && { providerMetadata }),
  };
}

/** A model may return anything: bounds it and makes it text that the database can store. */
export const toStorableReply = ({ text, toolCalls, tokens, isCutOff }: ModelReply): ModelReply => ({
  text: storableText(text, maxReplyLength),
  toolCalls: toolCalls.slice(0, maxToolCalls).map(toStorableCall),
  tokens: Math.min(Math.max(0, Math.round(tokens) || 0), maxTokens),
  ...(isCutOff && { isCutOff }),
});

export const addTokens = ({ tokensUsed }: Progress, { tokens }: ModelReply): number =>
  Math.min(tokensUsed + tokens, maxTokens);

/** The progress after all tools that the reply calls have answered. */
export function afterTools(
  progress: Progress,
  reply: ModelReply,
  results: readonly (ToolResult | null)[],
  log: readonly LogLine[],
): Progress {
  const { text, toolCalls } = reply;
  return {
    ...progress,
    step: progress.step + 1,
    messages: [
      ...progress.messages,
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

/** Why a run with too large a conversation is stopped; undefined while it may go on. */
export function conversationTooLarge({ messages }: Progress, reply: ModelReply): RunFailure | undefined {
  const bytes = messages.reduce((sum, message) => sum + sizeOf(message), sizeOf(reply));
  return bytes > maxConversationBytes
    ? permanentFailure(
        `The conversation of the run is larger than ${maxConversationBytes / 2 ** 20} MiB. Ask for less, or let the tools return less.`,
      )
    : undefined;
}

const maxRepeats = 5;

/** Why a run that keeps repeating one call is stopped; undefined while it may go on. */
export function toolLoopFound({ messages }: Progress, toolCalls: readonly ToolCall[]): RunFailure | undefined {
  const calls = [
    ...messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : [])),
    ...toolCalls,
  ];
  const { name, times } = findMostRepeatedCall(calls);
  if (times < maxRepeats) return undefined;
  return permanentFailure(
    `The model called the tool ${name} ${times} times with the same arguments: stopped as a loop. Say in \`instructions\` when to stop.`,
  );
}

/** The models of a run, in the order they are tried. */
export const modelsOf = ({ definition: { model, fallback_models, runtime } }: RunInput): readonly string[] =>
  runtime.type === "http" ? [runtime.url] : [model, ...fallback_models];

export const modelRef = (run: RunInput, { model }: Attempt): string => modelsOf(run)[model] ?? run.definition.model;

/** The model's name for users. The address of a remote agent is left out: it may contain a token. */
export const displayModel = (run: RunInput, modelIndex: number): string =>
  run.definition.runtime.type === "http" ? "The remote agent" : (modelsOf(run)[modelIndex] ?? run.definition.model);

const firstWaitMs = 250;
const maxWaitMs = 10_000;
/** For a model that has a fallback. */
const triesBeforeFallback = 3;

/** Exponential backoff with a limit and jitter. */
export const backoffMs = (tries: number, random: number): number =>
  Math.round(Math.min(firstWaitMs * 2 ** (tries - 1), maxWaitMs) * (0.8 + random * 0.4));

/**
 * An unreachable server is not retried after this long. Six tries take about eight seconds, enough for a server that
 * restarts. The rest is for tries that fail slowly.
 */
const maxUnreachableMs = 12_000;

export interface Failure {
  readonly message: string;
  readonly transient: boolean;
  readonly retryAfterMs?: number | undefined;
  /** No connection came about. */
  readonly isUnreachable?: boolean;
  /** Advice for the user, if no retry follows. */
  readonly advice?: string;
  /** When the attempt began, and when it failed. */
  readonly startedAtMs: number;
  readonly failedAtMs: number;
}

interface Unreachable {
  readonly tries: number;
  readonly sinceMs: number;
}

function unreachableAfter({ unreachable }: Attempt, failure: Failure): Unreachable | undefined {
  if (!failure.isUnreachable) return undefined;
  return { tries: (unreachable?.tries ?? 0) + 1, sinceMs: unreachable?.sinceMs ?? failure.startedAtMs };
}

/** The failure of a model or server that is given up: its name, how often it was tried, and the advice. */
function describeGivenUp({ message, advice, failedAtMs }: Failure, unreachable: Unreachable | undefined): string {
  if (!unreachable) return message;
  const { tries, sinceMs } = unreachable;
  const seconds = Math.max(1, Math.round((failedAtMs - sinceMs) / 1000));
  const tried = tries === 1 ? "Tried once." : `Tried ${tries} times in ${seconds} s.`;
  return [message, tried, ...(advice ? [advice] : [])].join(" ");
}

/**
 * The next step after a failed model call, or a failed listing of tools: a retry, the next fallback, or the failure of
 * the run.
 */
export function afterFailure(
  run: RunInput,
  attempt: Attempt,
  failure: Failure,
  remainingMs: number,
  random: number,
): Retry | { readonly failed: RunFailure } {
  const { model, tries, failures, log } = attempt;
  const { message, transient, retryAfterMs, failedAtMs } = failure;
  const isLast = model >= modelsOf(run).length - 1;
  const unreachable = unreachableAfter(attempt, failure);
  const waitMs = Math.max(retryAfterMs ?? 0, backoffMs(unreachable?.tries ?? tries, random));
  const mayComeBack = !unreachable || failedAtMs - unreachable.sinceMs + waitMs <= maxUnreachableMs;
  const isWorthIt = isLast || (tries < triesBeforeFallback && waitMs <= maxWaitMs * 1.2);
  // One model that may answer later is enough for a new run to succeed.
  const retryable = transient || attempt.retryable === true;
  const kept = { ...(retryable && { retryable }), log };
  // One reason per model: its last failure.
  const before = failures.slice(0, model);
  if (transient && mayComeBack && waitMs < remainingMs && isWorthIt) {
    const retry = {
      model,
      tries: tries + 1,
      failures: [...before, message],
      ...kept,
      ...(unreachable && { unreachable }),
    };
    return { retry, afterMs: waitMs };
  }
  const reasons = [...before, describeGivenUp(failure, unreachable)];
  if (!isLast) return { retry: { model: model + 1, tries: 1, failures: reasons, ...kept }, afterMs: 0 };
  const noTime = transient && mayComeBack ? " The run had no time left to try again (limits.timeout_seconds)." : "";
  return { failed: { message: `${reasons.join(" Then: ")}${noTime}`, code: "run_failed", retryable } };
}

/** Tries of a tool call that fails transiently; after the last the model gets the failure as the result. */
export const toolTries = 3;

/** The calls of a reply that are retried wait together, for the longest. */
export const maxRetryAfterMs = (results: readonly ToolCallResult[]): number =>
  Math.max(0, ...results.map((result) => ("retryAfterMs" in result ? result.retryAfterMs : 0)));
