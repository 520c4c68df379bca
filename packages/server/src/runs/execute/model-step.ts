import type { RunInput } from "../../engine/messages.ts";
import {
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
import type { Attempt, ModelResult, Progress } from "../run.ts";
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

interface ModelStepDeps {
  readonly findModel: FindModel;
  readonly callRemoteAgent: CallRemoteAgent;
  readonly records: RunRecord;
  /** What a million tokens of a model cost. */
  readonly prices: Readonly<Record<string, number>>;
  readonly spans: RunSpans;
  readonly streams: RunStreams;
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
function toFailure(error: unknown, ref: string, logger: Logger): Failure {
  if (error instanceof PermanentModelError) return { message: error.message, transient: false };
  if (error instanceof TransientModelError)
    return { message: error.message, transient: true, retryAfterMs: error.retryAfterMs };
  logger.warn({ err: error, model: ref }, "model call failed unexpectedly");
  return { message: `${ref} could not be asked.`, transient: true };
}

/** The model's name for users. The address of a remote agent is left out: it may hold a token. */
const displayModel = (run: RunInput, modelIndex: number): string =>
  run.definition.runtime.type === "http" ? "The remote agent" : (modelsOf(run)[modelIndex] ?? run.definition.model);

const withLastFailure = (limit: string, failures: readonly string[]): string =>
  [limit, ...failures.slice(-1)].join(" Last failure: ");

/** One call of one model, and what follows from it. */
export function createModelStep(deps: ModelStepDeps): ModelStep {
  const { findModel, callRemoteAgent, records, prices, spans, streams, logger, now } = deps;

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
    if (stopped) return records.stop(run, progress, "cancelled", "The run was cancelled.", log);
    const limit = limitReached(run, progress, deadlineMs(run, progress) - now());
    if (!limit) return undefined;
    const why = withLastFailure(limit, failures);
    return records.stop(run, progress, "failed", why, [...log, logLine(now(), "warn", limit, { type: "limit" })]);
  };

  const handleModelError = async (
    run: RunInput,
    progress: Progress,
    attempt: Attempt,
    { error, name, startedAtMs }: { readonly error: unknown; readonly name: string; readonly startedAtMs: number },
  ): Promise<ModelResult> => {
    const remainingMs = deadlineMs(run, progress) - now();
    const failure = toFailure(error, name, logger);
    const about = {
      type: "model_call",
      step: progress.step,
      model: name,
      attempt: attempt.tries,
      duration_ms: now() - startedAtMs,
    };
    const overdue = limitReached(run, progress, remainingMs);
    if (overdue) {
      const limit = logLine(now(), "warn", overdue, { ...about, type: "limit" });
      return records.stop(run, progress, "failed", withLastFailure(overdue, attempt.failures), [...attempt.log, limit]);
    }
    const next = afterFailure(run, attempt, failure, remainingMs, Math.random());
    const then =
      "failed" in next ? {} : { retry_after_ms: next.afterMs, next_model: displayModel(run, next.retry.model) };
    const failed = logLine(startedAtMs, "warn", failure.message, { ...about, failed: true, ...then });
    const log = [...attempt.log, failed];
    if ("failed" in next) return records.stop(run, progress, "failed", next.failed, log);
    // While it waits for the retry, the run is listed and can be cancelled.
    if (await records.isCancelled(run)) return records.stop(run, progress, "cancelled", "The run was cancelled.", log);
    return { ...next, retry: { ...next.retry, log } };
  };

  return async (run, progress, attempt, tools) => {
    const stopped = await stopIfCancelledOrOverLimit(run, progress, attempt);
    if (stopped) return stopped;
    const ref = modelRef(run, attempt);
    const name = displayModel(run, attempt.model);
    const startedAtMs = now();
    let reply: ModelReply;
    try {
      reply = await callAndStream(run, progress, attempt, tools);
    } catch (error) {
      spans.modelCall(run, progress, attempt, { startedAtMs, error });
      return handleModelError(run, progress, attempt, { error, name, startedAtMs });
    }
    const tokensUsed = addTokens(progress, reply);
    const { tokens, toolCalls, text } = reply;
    spans.modelCall(run, progress, attempt, { startedAtMs, tokens });
    const called = logLine(startedAtMs, "info", `Model call: ${name}`, {
      type: "model_call",
      step: progress.step,
      model: name,
      tokens,
      duration_ms: now() - startedAtMs,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls.length }),
    });
    const log = [...attempt.log, called];
    // A price of so many dollars for a million tokens is so many millionths for one.
    const costMicros = Math.round(tokens * (prices[ref] ?? 0));
    const spent = { ...progress, costMicros: progress.costMicros + costMicros };
    const next = { ...spent, step: progress.step + 1, tokensUsed };
    if (toolCalls.length === 0 && !reply.isCutOff) return records.complete(run, spent, { text, tokensUsed }, log);
    // Do not call tools if no further model call could use their results.
    const why = reply.isCutOff
      ? answerCutOff(run)
      : (conversationTooLarge(progress, reply) ??
        toolLoopFound(progress, toolCalls) ??
        limitReached(run, next, deadlineMs(run, progress) - now()));
    if (!why) return { reply, log, costMicros };
    return records.stop(run, next, "failed", why, [...log, logLine(now(), "warn", why, { type: "limit" })]);
  };
}
