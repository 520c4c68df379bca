import type { RunInput } from "../../engine/messages.ts";
import type { ModelMessage, ModelReply } from "../../outbound/models/model.ts";
import type { RunTool } from "../../outbound/tools/tool.ts";
import type { Logger } from "../../platform/logger.ts";
import { logLine } from "../record/run-log.ts";
import type { RunRecord } from "../record/run-record.ts";
import type { Attempt, LogLine, ModelResult, Progress } from "../run.ts";
import { type CallModelDeps, createCallModel } from "./call-model.ts";
import { createModelFailure, withLastFailure } from "./model-failure.ts";
import {
  addTokens,
  answerCutOff,
  conversationTooLarge,
  deadlineMs,
  displayModel,
  limitReached,
  modelRef,
  toolLoopFound,
} from "./run-rules.ts";
import type { RunSpans } from "./run-spans.ts";
import { attemptField, interruptedLine, interruptedReason, modelEvent, type PublishStep } from "./step-events.ts";

interface ModelStepDeps extends CallModelDeps {
  readonly records: RunRecord;
  /** The price of a million tokens, by model. */
  readonly prices: Readonly<Record<string, number>>;
  readonly spans: RunSpans;
  readonly publish: PublishStep;
  readonly logger: Logger;
}

export type ModelStep = (
  run: RunInput,
  progress: Progress,
  attempt: Attempt,
  tools: readonly RunTool[],
) => Promise<ModelResult>;

/** The line of a call that the model has answered. */
const calledLine = (
  run: RunInput,
  { step }: Progress,
  { model, tries }: Attempt,
  { tokens, toolCalls }: ModelReply,
  { startedAtMs, endedAtMs }: { readonly startedAtMs: number; readonly endedAtMs: number },
): LogLine => {
  const name = displayModel(run, model);
  return logLine(startedAtMs, "info", `Model call: ${name}`, {
    type: "model_call",
    step,
    model: name,
    ...attemptField(tries),
    tokens,
    duration_ms: endedAtMs - startedAtMs,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.length }),
  });
};

/** One call of one model, and its consequences. */
export function createModelStep(deps: ModelStepDeps): ModelStep {
  const { records, prices, spans, publish, now } = deps;
  const callModel = createCallModel(deps);
  const handleFailure = createModelFailure(deps);

  const stopIfCancelledOrOverLimit = async (
    run: RunInput,
    progress: Progress,
    { tries, model, failures, log }: Attempt,
  ) => {
    const stopped =
      (progress.step > 1 || run.sessionId !== null || tries > 1 || model > 0) && (await records.isCancelled(run));
    if (stopped) return records.cancel(run, progress, log);
    const limit = limitReached(run, progress, deadlineMs(run, progress) - now());
    if (!limit) return undefined;
    const reached = logLine(now(), "warn", limit.message, { type: "limit" });
    return records.fail(run, progress, withLastFailure(limit, failures), [...log, reached]);
  };

  /** The log lines of an attempt that an earlier worker did not finish; none for other attempts. */
  const noteInterruption = (run: RunInput, progress: Progress, attempt: Attempt): readonly LogLine[] => {
    if (!attempt.interrupted) return [];
    const event = modelEvent(run, progress, attempt);
    publish(run, { ...event, status: "interrupted", reason: interruptedReason });
    const about = { kind: "model", step: event.step, model: event.name, ...attemptField(attempt.tries) } as const;
    return [interruptedLine(now(), event.name, about)];
  };

  /** Completes the run, fails it, or returns the reply whose tools are called next. */
  const useReply = async (
    run: RunInput,
    progress: Progress,
    reply: ModelReply,
    { costMicros, log }: { readonly costMicros: number; readonly log: readonly LogLine[] },
  ): Promise<ModelResult> => {
    const { text, toolCalls } = reply;
    const tokensUsed = addTokens(progress, reply);
    const spent = { ...progress, costMicros: progress.costMicros + costMicros };
    const answered: ModelMessage = { role: "assistant", content: text, toolCalls };
    const next = { ...spent, step: progress.step + 1, messages: [...progress.messages, answered], tokensUsed };
    if (toolCalls.length === 0 && !reply.isCutOff) return records.complete(run, spent, { text, tokensUsed }, log);
    // Do not call tools if no further model call could use their results.
    const why = reply.isCutOff
      ? answerCutOff(run)
      : (conversationTooLarge(progress, reply) ??
        toolLoopFound(progress, toolCalls) ??
        limitReached(run, next, deadlineMs(run, progress) - now()));
    if (!why) return { reply, log, costMicros };
    return records.fail(run, next, why, [...log, logLine(now(), "warn", why.message, { type: "limit" })]);
  };

  return async (run, progress, given, tools) => {
    const attempt = { ...given, log: [...given.log, ...noteInterruption(run, progress, given)] };
    const stopped = await stopIfCancelledOrOverLimit(run, progress, attempt);
    if (stopped) return stopped;
    const startedAtMs = now();
    const event = modelEvent(run, progress, attempt);
    publish(run, { ...event, status: "started" });
    let reply: ModelReply;
    try {
      reply = await callModel(run, progress, attempt, tools);
    } catch (error) {
      spans.modelCall(run, progress, attempt, { startedAtMs, error });
      return handleFailure(run, progress, attempt, { error, startedAtMs });
    }
    const { tokens, text } = reply;
    publish(run, { ...event, status: "completed", tokens });
    spans.modelCall(run, progress, attempt, { startedAtMs, tokens, output: text });
    const called = calledLine(run, progress, attempt, reply, { startedAtMs, endedAtMs: now() });
    // A price of so many dollars for a million tokens is so many millionths for one.
    const costMicros = Math.round(tokens * (prices[modelRef(run, attempt)] ?? 0));
    return useReply(run, progress, reply, { costMicros, log: [...attempt.log, called] });
  };
}
