import { type ModelReply, type ModelRequest, PassingModelError, PermanentModelError } from "../models/model.ts";
import type { CallRemoteAgent } from "../models/remote-agent.ts";
import { toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import type { FindModel } from "../providers/find-model.ts";
import type { RunStreams, TextWriter } from "../streams/run-streams.ts";
import type { RunTool } from "../tools/tool-set.ts";
import type { Attempt, ModelResult, Progress, RunInput } from "./run.ts";
import { line } from "./run-log.ts";
import type { RunRecord } from "./run-record.ts";
import {
  addTokens,
  afterFailure,
  type Failure,
  limitReached,
  loopFound,
  messagesFor,
  modelsOf,
  storable,
  tooMuchSaid,
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

const silent: TextWriter = { say: () => undefined, finish: async () => undefined };

export const deadlineMs = ({ definition }: RunInput, { startedAtMs }: Progress): number =>
  startedAtMs + definition.limits.timeout_seconds * 1000;

/** What went wrong, in words for the run's user. What nobody foresaw is told to the log alone. */
function failureOf(error: unknown, ref: string, logger: Logger): Failure {
  if (error instanceof PermanentModelError) return { message: error.message, passing: false };
  if (error instanceof PassingModelError)
    return { message: error.message, passing: true, retryAfterMs: error.retryAfterMs };
  logger.warn({ err: error, model: ref }, "a model call failed in a way that nobody foresaw");
  return { message: `${ref} could not be asked.`, passing: true };
}

/** What is asked, in words that anybody may read: the address of a remote agent may hold a token. */
const shownModel = (run: RunInput, place: number): string =>
  run.definition.runtime.type === "http" ? "The remote agent" : (modelsOf(run)[place] ?? run.definition.model);

const withLast = (limit: string, failures: readonly string[]): string =>
  [limit, ...failures.slice(-1)].join(" Last failure: ");

/** One call of one model, and what follows from it. */
export function createModelStep(deps: ModelStepDeps): ModelStep {
  const { findModel, callRemoteAgent, records, prices, spans, streams, logger, now } = deps;

  const ask = async (run: RunInput, ref: string, request: ModelRequest, progress: Progress): Promise<ModelReply> => {
    if (run.definition.runtime.type === "http") {
      const { userId, sessionId, environment, message } = run;
      return callRemoteAgent(ref, {
        requestId: request.requestId,
        agentId: toPublicId("agent", run.agentId),
        message,
        context: { userId, sessionId, environment },
        history: progress.session.history,
        memories: progress.recalled ?? [],
        signal: request.signal,
        onText: request.onText,
      });
    }
    return (await findModel(run.organisationId, ref))(request);
  };

  const call = async (
    run: RunInput,
    ref: string,
    progress: Progress,
    tools: readonly RunTool[],
  ): Promise<ModelReply> => {
    const writer = run.streamed ? streams.writeText(run.id, progress.step) : silent;
    const request: ModelRequest = {
      requestId: toPublicId("request", run.id),
      step: progress.step,
      messages: messagesFor(run, progress),
      tools: tools.map(({ definition }) => definition),
      temperature: run.definition.temperature,
      instructions: run.definition.instructions,
      signal: AbortSignal.timeout(Math.max(1, deadlineMs(run, progress) - now())),
      onText: (delta) => writer.say(delta.replaceAll("\0", "")),
    };
    const reply = storable(await records.shownWhile(run, () => ask(run, ref, request, progress)));
    await writer.finish();
    return reply;
  };

  const refusal = async (run: RunInput, progress: Progress, { tries, model, failures, log }: Attempt) => {
    const stopped =
      (progress.step > 1 || run.sessionId !== null || tries > 1 || model > 0) && (await records.isCancelled(run));
    if (stopped) return records.stop(run, progress, "cancelled", "The run was cancelled.", log);
    const limit = limitReached(run, progress, deadlineMs(run, progress) - now());
    if (!limit) return undefined;
    const why = withLast(limit, failures);
    return records.stop(run, progress, "failed", why, [...log, line(now(), "warn", limit, { type: "limit" })]);
  };

  const afterError = async (
    run: RunInput,
    progress: Progress,
    attempt: Attempt,
    { error, name, startedAtMs }: { readonly error: unknown; readonly name: string; readonly startedAtMs: number },
  ): Promise<ModelResult> => {
    const remainingMs = deadlineMs(run, progress) - now();
    const failure = failureOf(error, name, logger);
    const about = { type: "model_call", step: progress.step, model: name, try: attempt.tries, ms: now() - startedAtMs };
    const overdue = limitReached(run, progress, remainingMs);
    if (overdue) {
      const limit = line(now(), "warn", overdue, { ...about, type: "limit" });
      return records.stop(run, progress, "failed", withLast(overdue, attempt.failures), [...attempt.log, limit]);
    }
    const next = afterFailure(run, attempt, failure, remainingMs, Math.random());
    const then =
      "failed" in next ? {} : { retry_after_ms: next.afterMs, next_model: shownModel(run, next.again.model) };
    const failed = line(startedAtMs, "warn", failure.message, { ...about, failed: true, ...then });
    const log = [...attempt.log, failed];
    if ("failed" in next) return records.stop(run, progress, "failed", next.failed, log);
    // Until then it can be seen and cancelled.
    if (await records.isCancelled(run)) return records.stop(run, progress, "cancelled", "The run was cancelled.", log);
    return { ...next, again: { ...next.again, log } };
  };

  return async (run, progress, attempt, tools) => {
    const refused = await refusal(run, progress, attempt);
    if (refused) return refused;
    const ref = modelsOf(run)[attempt.model] ?? run.definition.model;
    const name = shownModel(run, attempt.model);
    const startedAtMs = now();
    let reply: ModelReply;
    try {
      reply = await call(run, ref, progress, tools);
    } catch (error) {
      spans.modelCall(run, progress, attempt, { startedAtMs, error });
      return afterError(run, progress, attempt, { error, name, startedAtMs });
    }
    const tokensUsed = addTokens(progress, reply);
    const { tokens, toolCalls, text } = reply;
    spans.modelCall(run, progress, attempt, { startedAtMs, tokens });
    const called = line(startedAtMs, "info", `Model call: ${name}`, {
      type: "model_call",
      step: progress.step,
      model: name,
      tokens,
      ms: now() - startedAtMs,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls.length }),
    });
    const log = [...attempt.log, called];
    // A price of so many dollars for a million tokens is so many millionths for one.
    const costMicros = Math.round(tokens * (prices[ref] ?? 0));
    const spent = { ...progress, costMicros: progress.costMicros + costMicros };
    if (toolCalls.length === 0) return records.complete(run, spent, { text, tokensUsed }, log);
    const next = { ...spent, step: progress.step + 1, tokensUsed };
    // No tool is called whose result no model call could use.
    const why =
      tooMuchSaid(progress, reply) ??
      loopFound(progress, toolCalls) ??
      limitReached(run, next, deadlineMs(run, progress) - now());
    if (!why) return { reply, log, costMicros };
    return records.stop(run, next, "failed", why, [...log, line(now(), "warn", why, { type: "limit" })]);
  };
}
