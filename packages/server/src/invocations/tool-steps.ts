import { toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import type { RunStreams } from "../streams/run-streams.ts";
import { type CallTool, PassingToolError, PermanentToolError, type ToolResult } from "../tools/call-tool.ts";
import { echoTool, type ListTools } from "../tools/tool-set.ts";
import { deadlineMs } from "./model-step.ts";
import type { Attempt, Progress, RunInput, ToolCallResult, ToolsResult, ToolTry } from "./run.ts";
import { line } from "./run-log.ts";
import type { RunRecord } from "./run-record.ts";
import { afterFailure, backoffMs, toolTries } from "./run-rules.ts";
import type { RunSpans } from "./run-spans.ts";

interface ToolStepsDeps {
  readonly tools: { readonly list: ListTools; readonly call: CallTool };
  readonly records: RunRecord;
  readonly spans: RunSpans;
  readonly streams: RunStreams;
  readonly logger: Logger;
  readonly now: () => number;
}

export interface ToolSteps {
  /** Which tools there are: asked once, so that a run sees the same ones to its end. */
  readonly tools: (run: RunInput, progress: Progress, attempt: Attempt) => Promise<ToolsResult>;
  readonly tool: (run: RunInput, progress: Progress, toolTry: ToolTry) => Promise<ToolCallResult>;
}

/** A tool that takes longer than this is given up and called again, or the model is told. */
const callMs = 60_000;
const listMs = 30_000;
const mostShownArguments = 4096;
type Answer = ToolResult | { readonly againAfterMs: number };
const stopped: ToolResult = { content: "The run was cancelled.", failed: true };

const shown = (input: unknown): unknown =>
  (JSON.stringify(input) ?? "").length <= mostShownArguments ? input : "[too long to show]";

export function createToolSteps({ tools, records, spans, streams, logger, now }: ToolStepsDeps): ToolSteps {
  const signalFor = (run: RunInput, progress: Progress, mostMs: number) =>
    AbortSignal.timeout(Math.max(1, Math.min(deadlineMs(run, progress) - now(), mostMs)));

  /** A database that does not answer must not make the engine repeat the call. */
  const isCancelled = (run: RunInput): Promise<boolean> =>
    records.isCancelled(run).catch((error: unknown) => {
      logger.debug({ err: error }, "a run could not be shown");
      return false;
    });

  const callLine = ({ step }: Progress, { call, place, tries }: ToolTry, answer: Answer, startedAtMs: number) => {
    const again = "againAfterMs" in answer;
    const failed = again || answer.failed;
    return line(startedAtMs, failed ? "warn" : "info", `Tool call: ${call.name}`, {
      type: "tool_call",
      step,
      call: place,
      tool: call.name,
      ms: now() - startedAtMs,
      ...(tries > 1 && { try: tries }),
      ...(failed && { failed }),
      ...(again && { retry_after_ms: answer.againAfterMs }),
    });
  };

  const callOnce = async (run: RunInput, progress: Progress, toolTry: ToolTry): Promise<Answer> => {
    const { call, place, tries, tools: known } = toolTry;
    const tool = [...known, echoTool].find(({ definition }) => definition.name === call.name);
    if (!tool) return { content: `There is no tool ${call.name}.`, failed: true };
    if (deadlineMs(run, progress) <= now())
      return { content: "The run's time was over: nothing was called.", failed: true };
    const requestId = toPublicId("request", run.id);
    try {
      return await tools.call(tool, call.arguments, {
        requestId,
        // The same for every try of this call: a tool that remembers it does the work once.
        idempotencyKey: `${requestId}-${progress.step}.${place}`,
        signal: signalFor(run, progress, callMs),
      });
    } catch (error) {
      if (!(error instanceof PassingToolError))
        logger.warn({ err: error, tool: call.name, requestId }, "a tool call failed in a way that nobody foresaw");
      const remainingMs = deadlineMs(run, progress) - now();
      const asked = error instanceof PassingToolError ? (error.retryAfterMs ?? 0) : 0;
      const againAfterMs = Math.max(asked, backoffMs(tries, Math.random()));
      if (tries < toolTries && againAfterMs < Math.min(remainingMs, callMs)) return { againAfterMs };
      const why = error instanceof PassingToolError ? error.message : "It could not be called.";
      return { content: `The tool failed: ${why}`, failed: true };
    }
  };

  return {
    tools: async (run, progress, attempt) => {
      try {
        const list = () => tools.list(run.definition.tools, signalFor(run, progress, listMs));
        return { tools: await records.shownWhile(run, list), log: attempt.log };
      } catch (error) {
        if (error instanceof PermanentToolError)
          return records.stop(run, progress, "failed", error.message, attempt.log);
        const retryAfterMs = error instanceof PassingToolError ? error.retryAfterMs : undefined;
        const message = error instanceof PassingToolError ? error.message : "The tools could not be listed.";
        if (!(error instanceof PassingToolError)) logger.warn({ err: error }, "tools could not be listed");
        // No other model would find the tools either.
        const alone = { ...run, definition: { ...run.definition, fallback_models: [] } };
        const remainingMs = deadlineMs(run, progress) - now();
        // What ran out of time says less than what happened before.
        const why = remainingMs <= 0 ? (attempt.failures.at(-1) ?? message) : message;
        const failure = { message: why, passing: true, retryAfterMs };
        const next = afterFailure(alone, attempt, failure, remainingMs, Math.random());
        const log = [...attempt.log, line(now(), "warn", why, { type: "tools", failed: true, try: attempt.tries })];
        if ("failed" in next) return records.stop(run, progress, "failed", next.failed, log);
        if (await records.isCancelled(run))
          return records.stop(run, progress, "cancelled", "The run was cancelled.", log);
        return { ...next, again: { ...next.again, log } };
      }
    },

    tool: async (run, progress, toolTry) => {
      const { call, place } = toolTry;
      const event = { type: "tool" as const, step: progress.step, call: place, name: call.name };
      if (run.streamed && toolTry.tries === 1)
        await streams.append(run.id, { ...event, status: "started", arguments: shown(call.arguments) });
      // Also makes the run visible: who may still cancel it must be able to see it.
      const startedAtMs = now();
      const result = (await isCancelled(run)) ? stopped : await callOnce(run, progress, toolTry);
      const log = [callLine(progress, toolTry, result, startedAtMs)];
      const failed = "againAfterMs" in result || result.failed;
      spans.toolCall(run, progress, toolTry, { startedAtMs, failed });
      if (run.streamed && !("againAfterMs" in result))
        await streams.append(run.id, { ...event, status: result.failed ? "failed" : "completed" });
      return { ...result, log };
    },
  };
}
