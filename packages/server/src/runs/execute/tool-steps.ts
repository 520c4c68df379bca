import type { RunInput } from "../../engine/messages.ts";
import { echoTool, type ToolResult } from "../../outbound/tools/tool.ts";
import { PermanentToolError, TransientToolError } from "../../outbound/tools/tool-errors.ts";
import type { CallTool, ListTools } from "../../outbound/tools/tools.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { RunStreams } from "../../streams/run-streams.ts";
import { logLine } from "../record/run-log.ts";
import type { RunRecord } from "../record/run-record.ts";
import type { Attempt, Progress, ToolAttempt, ToolCallResult, ToolsResult } from "../run.ts";
import { deadlineMs } from "./model-step.ts";
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
  /** Lists the tools once, so that a run sees the same ones to its end. */
  readonly tools: (run: RunInput, progress: Progress, attempt: Attempt) => Promise<ToolsResult>;
  readonly tool: (run: RunInput, progress: Progress, toolTry: ToolAttempt) => Promise<ToolCallResult>;
}

/** A slower tool call is aborted and retried, or reported to the model as failed. */
const callTimeoutMs = 60_000;
const listTimeoutMs = 30_000;
const maxDisplayedArguments = 4096;
type ToolOutcome = ToolResult | { readonly retryAfterMs: number };
const cancelledResult: ToolResult = { content: "The run was cancelled.", failed: true };

const displayArguments = (input: unknown): unknown =>
  (JSON.stringify(input) ?? "").length <= maxDisplayedArguments ? input : "[too long to show]";

export function createToolSteps({ tools, records, spans, streams, logger, now }: ToolStepsDeps): ToolSteps {
  const signalFor = (run: RunInput, progress: Progress, maxMs: number) =>
    AbortSignal.timeout(Math.max(1, Math.min(deadlineMs(run, progress) - now(), maxMs)));

  /** A database failure must not make the engine repeat the tool call. */
  const isCancelled = (run: RunInput): Promise<boolean> =>
    records.isCancelled(run).catch((error: unknown) => {
      logger.debug({ err: error, runId: run.id }, "cancellation check failed");
      return false;
    });

  const toCallLogLine = (
    { step }: Progress,
    { call, callNumber, tries }: ToolAttempt,
    answer: ToolOutcome,
    startedAtMs: number,
  ) => {
    const retried = "retryAfterMs" in answer;
    const failed = retried || answer.failed;
    return logLine(startedAtMs, failed ? "warn" : "info", `Tool call: ${call.name}`, {
      type: "tool_call",
      step,
      call: callNumber,
      tool: call.name,
      duration_ms: now() - startedAtMs,
      ...(tries > 1 && { attempt: tries }),
      ...(failed && { failed }),
      ...(retried && { retry_after_ms: answer.retryAfterMs }),
    });
  };

  const callOnce = async (run: RunInput, progress: Progress, toolTry: ToolAttempt): Promise<ToolOutcome> => {
    const { call, callNumber, tries, tools: known } = toolTry;
    const tool = [...known, echoTool].find(({ definition }) => definition.name === call.name);
    if (!tool) return { content: `There is no tool ${call.name}.`, failed: true };
    if (deadlineMs(run, progress) <= now())
      return { content: "The run's time was over: nothing was called.", failed: true };
    const requestId = toPublicId("request", run.id);
    try {
      return await tools.call(tool, call.arguments, {
        owner: run,
        requestId,
        // The same for every try of this call: a tool that remembers it does the work once.
        idempotencyKey: `${requestId}-${progress.step}.${callNumber}`,
        trace: spans.parents.toolCall(run, progress, toolTry),
        signal: signalFor(run, progress, callTimeoutMs),
      });
    } catch (error) {
      if (!(error instanceof TransientToolError))
        logger.warn({ err: error, tool: call.name, requestId }, "tool call failed unexpectedly");
      const remainingMs = deadlineMs(run, progress) - now();
      const requestedMs = error instanceof TransientToolError ? (error.retryAfterMs ?? 0) : 0;
      const retryAfterMs = Math.max(requestedMs, backoffMs(tries, Math.random()));
      if (tries < toolTries && retryAfterMs < Math.min(remainingMs, callTimeoutMs)) return { retryAfterMs };
      const why = error instanceof TransientToolError ? error.message : "It could not be called.";
      return { content: `The tool failed: ${why}`, failed: true };
    }
  };

  return {
    tools: async (run, progress, attempt) => {
      try {
        const listing = { requestId: toPublicId("request", run.id), trace: spans.parents.listing(run) };
        const list = () => tools.list(run.definition.tools, run, signalFor(run, progress, listTimeoutMs), listing);
        return { tools: await records.markRunningDuring(run, list), log: attempt.log };
      } catch (error) {
        if (error instanceof PermanentToolError)
          return records.stop(run, progress, "failed", error.message, attempt.log);
        const retryAfterMs = error instanceof TransientToolError ? error.retryAfterMs : undefined;
        const message = error instanceof TransientToolError ? error.message : "The tools could not be listed.";
        if (!(error instanceof TransientToolError)) logger.warn({ err: error, runId: run.id }, "tool listing failed");
        // Fallback models would not find the tools either.
        const runWithoutFallbacks = { ...run, definition: { ...run.definition, fallback_models: [] } };
        const remainingMs = deadlineMs(run, progress) - now();
        // An earlier failure is more useful than the timeout.
        const why = remainingMs <= 0 ? (attempt.failures.at(-1) ?? message) : message;
        const failure = { message: why, transient: true, retryAfterMs };
        const next = afterFailure(runWithoutFallbacks, attempt, failure, remainingMs, Math.random());
        const log = [
          ...attempt.log,
          logLine(now(), "warn", why, { type: "tools", failed: true, attempt: attempt.tries }),
        ];
        if ("failed" in next) return records.stop(run, progress, "failed", next.failed, log);
        if (await records.isCancelled(run))
          return records.stop(run, progress, "cancelled", "The run was cancelled.", log);
        return { ...next, retry: { ...next.retry, log } };
      }
    },

    tool: async (run, progress, toolTry) => {
      const { call, callNumber } = toolTry;
      const event = { type: "tool" as const, step: progress.step, call: callNumber, name: call.name };
      if (run.streamed && toolTry.tries === 1) {
        const started = { ...event, status: "started", arguments: displayArguments(call.arguments) } as const;
        await streams.append(run.id, started, run);
      }
      // Also makes the run visible: who may still cancel it must be able to see it.
      const startedAtMs = now();
      const result = (await isCancelled(run)) ? cancelledResult : await callOnce(run, progress, toolTry);
      const log = [toCallLogLine(progress, toolTry, result, startedAtMs)];
      const failed = "retryAfterMs" in result || result.failed;
      spans.toolCall(run, progress, toolTry, { startedAtMs, failed });
      if (run.streamed && !("retryAfterMs" in result))
        await streams.append(run.id, { ...event, status: result.failed ? "failed" : "completed" }, run);
      return { ...result, log };
    },
  };
}
