import type { RunInput } from "../../engine/messages.ts";
import {
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  PermanentModelError,
  TransientModelError,
} from "../../outbound/models/model.ts";
import type { CallRemoteAgent } from "../../outbound/models/remote-agent.ts";
import type { RunTool } from "../../outbound/tools/tool.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { FindModel } from "../../resources/providers/find-model.ts";
import type { RunStreams, TextWriter } from "../../streams/run-streams.ts";
import { logLine } from "../record/run-log.ts";
import type { RunRecord } from "../record/run-record.ts";
import type { Attempt, LogLine, ModelResult, Progress, RunFailure } from "../run.ts";
import {
  addTokens,
  afterFailure,
  answerCutOff,
  conversationTooLarge,
  type Failure,
  limitReached,
  messagesFor,
  modelsOf,
  remainingTokens,
  toolLoopFound,
  toStorableReply,
} from "./run-rules.ts";
import type { RunSpans } from "./run-spans.ts";
import { attemptField, interruptedLine, interruptedReason, type PublishStep, toReason } from "./step-events.ts";

interface ModelStepDeps {
  readonly findModel: FindModel;
  readonly callRemoteAgent: CallRemoteAgent;
  readonly records: RunRecord;
  /** What a million tokens of a model cost. */
  readonly prices: Readonly<Record<string, number>>;
  readonly spans: RunSpans;
  readonly streams: RunStreams;
  readonly publish: PublishStep;
  readonly logger: Logger;
  readonly now: () => number;
}

export type ModelStep = (
  run: RunInput,
  progress: Progress,
  attempt: Attempt,
  tools: readonly RunTool[],
) => Promise<ModelResult>;

const modelRef = (run: RunInput, { model }: Attempt): string => modelsOf(run)[model] ?? run.definition.model;

const noopWriter: TextWriter = { write: () => undefined, finish: async () => undefined };

export const deadlineMs = ({ definition }: RunInput, { startedAtMs }: Progress): number =>
  startedAtMs + definition.limits.timeout_seconds * 1000;

/** The failure in words for the run's user. Unexpected errors are detailed in the log only. */
function toFailure(error: unknown, ref: string, logger: Logger): Omit<Failure, "startedAtMs" | "failedAtMs"> {
  if (error instanceof PermanentModelError) return { message: error.message, transient: false };
  if (error instanceof TransientModelError) {
    const { message, retryAfterMs, isUnreachable, advice } = error;
    return { message, transient: true, retryAfterMs, isUnreachable, advice };
  }
  logger.warn({ err: error, model: ref }, "model call failed unexpectedly");
  return { message: `${ref} could not be asked.`, transient: true };
}

/** The model's name for users. The address of a remote agent is left out: it may hold a token. */
const displayModel = (run: RunInput, modelIndex: number): string =>
  run.definition.runtime.type === "http" ? "The remote agent" : (modelsOf(run)[modelIndex] ?? run.definition.model);

const withLastFailure = (limit: RunFailure, failures: readonly string[]): RunFailure => ({
  ...limit,
  message: [limit.message, ...failures.slice(-1)].join(" Last failure: "),
});

/** One call of one model, and what follows from it. */
export function createModelStep(deps: ModelStepDeps): ModelStep {
  const { findModel, callRemoteAgent, records, prices, spans, streams, publish, logger, now } = deps;

  const callModel = async (
    run: RunInput,
    request: ModelRequest,
    progress: Progress,
    attempt: Attempt,
  ): Promise<ModelReply> => {
    const ref = modelRef(run, attempt);
    if (run.definition.runtime.type === "http") {
      const { userId, sessionId, environment, message } = run;
      return callRemoteAgent(ref, {
        owner: run,
        headers: run.definition.runtime.headers,
        requestId: request.requestId,
        agentId: toPublicId("agent", run.agentId),
        message,
        context: { userId, sessionId, environment },
        history: progress.session.history,
        memories: progress.recalled ?? [],
        trace: spans.parents.modelCall(run, progress, attempt),
        signal: request.signal,
        onText: request.onText,
      });
    }
    return (await findModel(run.organisationId, ref))(request);
  };

  const callAndStream = async (
    run: RunInput,
    progress: Progress,
    attempt: Attempt,
    tools: readonly RunTool[],
  ): Promise<ModelReply> => {
    const writer = run.streamed ? streams.writeText(run.id, progress.step, run) : noopWriter;
    const request: ModelRequest = {
      requestId: toPublicId("request", run.id),
      step: progress.step,
      messages: messagesFor(run, progress),
      tools: tools.map(({ definition }) => definition),
      temperature: run.definition.temperature,
      instructions: run.definition.instructions,
      maxOutputTokens: remainingTokens(run, progress),
      signal: AbortSignal.timeout(Math.max(1, deadlineMs(run, progress) - now())),
      onText: (delta) => writer.write(delta.replaceAll("\0", "")),
    };
    const call = () => callModel(run, request, progress, attempt);
    const reply = toStorableReply(await records.markRunningDuring(run, call));
    await writer.finish();
    return reply;
  };

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

  const eventOf = (run: RunInput, { step }: Progress, { model, tries }: Attempt) =>
    ({ type: "step", kind: "model", step, name: displayModel(run, model), attempt: tries }) as const;

  /** What the log has of an attempt that an earlier worker did not finish; nothing if this is no such attempt. */
  const noteInterruption = (run: RunInput, progress: Progress, attempt: Attempt): readonly LogLine[] => {
    if (!attempt.interrupted) return [];
    const event = eventOf(run, progress, attempt);
    publish(run, { ...event, status: "interrupted", reason: interruptedReason });
    const about = { kind: "model", step: event.step, model: event.name, ...attemptField(attempt.tries) } as const;
    return [interruptedLine(now(), event.name, about)];
  };

  const handleModelError = async (
    run: RunInput,
    progress: Progress,
    attempt: Attempt,
    { error, startedAtMs }: { readonly error: unknown; readonly startedAtMs: number },
  ): Promise<ModelResult> => {
    const event = eventOf(run, progress, attempt);
    const failedAtMs = now();
    const remainingMs = deadlineMs(run, progress) - failedAtMs;
    const toLine = (reason: string, then: object = {}) =>
      logLine(startedAtMs, "warn", reason, {
        type: "model_call",
        step: event.step,
        model: event.name,
        attempt: event.attempt,
        duration_ms: failedAtMs - startedAtMs,
        failed: true,
        reason: toReason(reason),
        ...then,
      });
    const overdue = limitReached(run, progress, remainingMs);
    if (overdue) {
      publish(run, { ...event, status: "failed", reason: toReason(overdue.message) });
      const lines = [toLine(overdue.message), logLine(failedAtMs, "warn", overdue.message, { type: "limit" })];
      return records.fail(run, progress, withLastFailure(overdue, attempt.failures), [...attempt.log, ...lines]);
    }
    const failure = { ...toFailure(error, event.name, logger), startedAtMs, failedAtMs };
    const next = afterFailure(run, attempt, failure, remainingMs, Math.random());
    // While it waits for the retry, the run is listed and can be cancelled.
    const isCancelled = "retry" in next && (await records.isCancelled(run));
    const retry = "retry" in next && !isCancelled ? { retry_after_ms: next.afterMs } : undefined;
    publish(run, { ...event, status: retry ? "retried" : "failed", reason: toReason(failure.message), ...retry });
    const nextModel = retry && "retry" in next && { next_model: displayModel(run, next.retry.model) };
    const log = [...attempt.log, toLine(failure.message, { ...retry, ...nextModel })];
    if ("failed" in next) return records.fail(run, progress, next.failed, log);
    return isCancelled ? records.cancel(run, progress, log) : { ...next, retry: { ...next.retry, log } };
  };

  return async (run, progress, given, tools) => {
    const attempt = { ...given, log: [...given.log, ...noteInterruption(run, progress, given)] };
    const stopped = await stopIfCancelledOrOverLimit(run, progress, attempt);
    if (stopped) return stopped;
    const ref = modelRef(run, attempt);
    const name = displayModel(run, attempt.model);
    const startedAtMs = now();
    const event = eventOf(run, progress, attempt);
    publish(run, { ...event, status: "started" });
    let reply: ModelReply;
    try {
      reply = await callAndStream(run, progress, attempt, tools);
    } catch (error) {
      spans.modelCall(run, progress, attempt, { startedAtMs, error });
      return handleModelError(run, progress, attempt, { error, startedAtMs });
    }
    publish(run, { ...event, status: "completed", tokens: reply.tokens });
    const tokensUsed = addTokens(progress, reply);
    const { tokens, toolCalls, text } = reply;
    spans.modelCall(run, progress, attempt, { startedAtMs, tokens, said: text });
    const called = logLine(startedAtMs, "info", `Model call: ${name}`, {
      type: "model_call",
      step: progress.step,
      model: name,
      ...attemptField(attempt.tries),
      tokens,
      duration_ms: now() - startedAtMs,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls.length }),
    });
    const log = [...attempt.log, called];
    // A price of so many dollars for a million tokens is so many millionths for one.
    const costMicros = Math.round(tokens * (prices[ref] ?? 0));
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
}
