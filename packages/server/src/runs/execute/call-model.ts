import type { RunInput } from "../../engine/messages.ts";
import type { ModelReply, ModelRequest } from "../../outbound/models/model.ts";
import type { CallRemoteAgent } from "../../outbound/models/remote-agent.ts";
import type { RunTool } from "../../outbound/tools/tool.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { FindModel } from "../../resources/providers/find-model.ts";
import type { RunStreams, TextWriter } from "../../streams/run-streams.ts";
import type { RunRecord } from "../record/run-record.ts";
import type { Attempt, Progress } from "../run.ts";
import { deadlineMs, messagesFor, modelRef, remainingTokens, toStorableReply } from "./run-rules.ts";
import type { RunSpans } from "./run-spans.ts";

export interface CallModelDeps {
  readonly findModel: FindModel;
  readonly callRemoteAgent: CallRemoteAgent;
  readonly records: Pick<RunRecord, "markRunningDuring">;
  readonly spans: Pick<RunSpans, "parents">;
  readonly streams: Pick<RunStreams, "writeText">;
  readonly now: () => number;
}

/** One call of one model, whose text is streamed. Throws the model's errors. */
type CallModel = (
  run: RunInput,
  progress: Progress,
  attempt: Attempt,
  tools: readonly RunTool[],
) => Promise<ModelReply>;

/** A timer may fire this much too early: the call must not end before the run's time is over. */
const earlyTimerMs = 2;

const noopWriter: TextWriter = { write: () => undefined, finish: async () => undefined };

export function createCallModel({
  findModel,
  callRemoteAgent,
  records,
  spans,
  streams,
  now,
}: CallModelDeps): CallModel {
  const send = async (
    run: RunInput,
    request: ModelRequest,
    progress: Progress,
    attempt: Attempt,
  ): Promise<ModelReply> => {
    const ref = modelRef(run, attempt);
    const { runtime } = run.definition;
    if (runtime.type !== "http") return (await findModel(run.organisationId, ref))(request);
    const { userId, sessionId, environment, message } = run;
    return callRemoteAgent(ref, {
      owner: run,
      headers: runtime.headers,
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
  };

  return async (run, progress, attempt, tools) => {
    const writer = run.streamed ? streams.writeText(run.id, progress.step, run) : noopWriter;
    const request: ModelRequest = {
      requestId: toPublicId("request", run.id),
      step: progress.step,
      messages: messagesFor(run, progress),
      tools: tools.map(({ definition }) => definition),
      temperature: run.definition.temperature,
      instructions: run.definition.instructions,
      maxOutputTokens: remainingTokens(run, progress),
      signal: AbortSignal.timeout(Math.max(1, deadlineMs(run, progress) - now() + earlyTimerMs)),
      onText: (delta) => writer.write(delta.replaceAll("\0", "")),
    };
    const call = () => send(run, request, progress, attempt);
    const reply = toStorableReply(await records.markRunningDuring(run, call));
    await writer.finish();
    return reply;
  };
}
