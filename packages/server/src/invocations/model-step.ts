import { type ModelReply, type ModelRequest, PassingModelError, PermanentModelError } from "../models/model.ts";
import type { CallRemoteAgent } from "../models/remote-agent.ts";
import { toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import type { FindModel } from "../providers/find-model.ts";
import type { RunStreams, TextWriter } from "../streams/run-streams.ts";
import type { RunTool } from "../tools/tool-set.ts";
import type { Attempt, ModelResult, Progress, RunInput } from "./run.ts";
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

interface ModelStepDeps {
  readonly findModel: FindModel;
  readonly callRemoteAgent: CallRemoteAgent;
  readonly records: RunRecord;
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

const withLast = (limit: string, failures: readonly string[]): string =>
  [limit, ...failures.slice(-1)].join(" Last failure: ");

/** One call of one model, and what follows from it. */
export function createModelStep(deps: ModelStepDeps): ModelStep {
  const { findModel, callRemoteAgent, records, streams, logger, now } = deps;

  const ask = async (run: RunInput, ref: string, request: ModelRequest, progress: Progress): Promise<ModelReply> => {
    if (run.definition.runtime.type === "http") {
      const { userId, sessionId, environment, message } = run;
      return callRemoteAgent(ref, {
        requestId: request.requestId,
        agentId: toPublicId("agent", run.agentId),
        message,
        context: { userId, sessionId, environment },
        history: progress.session.history,
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

  const refusal = async (run: RunInput, progress: Progress, { tries, model, failures }: Attempt) => {
    const stopped =
      (progress.step > 1 || run.sessionId !== null || tries > 1 || model > 0) && (await records.isCancelled(run));
    if (stopped) return records.stop(run, progress, "cancelled", "The run was cancelled.");
    const limit = limitReached(run, progress, deadlineMs(run, progress) - now());
    return limit && records.stop(run, progress, "failed", withLast(limit, failures));
  };

  return async (run, progress, attempt, tools) => {
    const refused = await refusal(run, progress, attempt);
    if (refused) return refused;
    const ref = modelsOf(run)[attempt.model] ?? run.definition.model;
    let reply: ModelReply;
    try {
      reply = await call(run, ref, progress, tools);
    } catch (error) {
      const remainingMs = deadlineMs(run, progress) - now();
      const overdue = limitReached(run, progress, remainingMs);
      if (overdue) return records.stop(run, progress, "failed", withLast(overdue, attempt.failures));
      // The address of a remote agent may hold a token.
      const name = run.definition.runtime.type === "http" ? "The remote agent" : ref;
      const next = afterFailure(run, attempt, failureOf(error, name, logger), remainingMs, Math.random());
      if ("failed" in next) return records.stop(run, progress, "failed", next.failed);
      // Until then it can be seen and cancelled.
      if (await records.isCancelled(run)) return records.stop(run, progress, "cancelled", "The run was cancelled.");
      return next;
    }
    const tokensUsed = addTokens(progress, reply);
    if (reply.toolCalls.length === 0) return records.complete(run, progress, reply.text, tokensUsed);
    const next = { ...progress, step: progress.step + 1, tokensUsed };
    // No tool is called whose result no model call could use.
    const why =
      tooMuchSaid(progress, reply) ??
      loopFound(progress, reply.toolCalls) ??
      limitReached(run, next, deadlineMs(run, progress) - now());
    return why ? records.stop(run, next, "failed", why) : { reply };
  };
}
