import type { RunInput } from "../../engine/messages.ts";
import { echoTool, failedResult, type ToolResult } from "../../outbound/tools/tool.ts";
import { TransientToolError } from "../../outbound/tools/tool-errors.ts";
import type { CallTool } from "../../outbound/tools/tools.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { logSettingOf } from "../../resources/agents/log-setting.ts";
import { logLine } from "../record/run-log.ts";
import type { RunRecord } from "../record/run-record.ts";
import { contentFor } from "../record/step-contents.ts";
import type { Progress, ToolAttempt, ToolCallResult, ToolRetry } from "../run.ts";
import { backoffMs, deadlineMs, toolTries } from "./run-rules.ts";
import type { RunSpans } from "./run-spans.ts";
import { attemptField, interruptedLine, interruptedReason, type PublishStep, toReason } from "./step-events.ts";

interface ToolStepDeps {
  readonly tools: { readonly call: CallTool };
  readonly records: RunRecord;
  readonly spans: RunSpans;
  readonly publish: PublishStep;
  readonly logger: Logger;
  readonly now: () => number;
}

/** One attempt of one tool call. */
export type ToolStep = (run: RunInput, progress: Progress, toolTry: ToolAttempt) => Promise<ToolCallResult>;

/** A slower tool call is aborted and retried, or reported to the model as failed. */
const callTimeoutMs = 60_000;
const maxDisplayedArguments = 4096;
type ToolOutcome = ToolResult | ToolRetry;
const cancelledResult = failedResult("The run was cancelled.");

const displayArguments = (input: unknown): unknown =>
  (JSON.stringify(input) ?? "").length <= maxDisplayedArguments ? input : "[too long to show]";

/** Why an attempt failed, in our words; undefined if it did not. */
function reasonOf(outcome: ToolOutcome): string | undefined {
  if (!("retryAfterMs" in outcome) && !outcome.failed) return undefined;
  return toReason(outcome.reason ?? "The tool reported an error.");
}

export function createToolStep({ tools, records, spans, publish, logger, now }: ToolStepDeps): ToolStep {
  /** A database failure must not make the engine repeat the tool call. */
  const isCancelled = (run: RunInput): Promise<boolean> =>
    records.isCancelled(run).catch((error: unknown) => {
      logger.debug({ err: error, runId: run.id }, "cancellation check failed");
      return false;
    });

  const callOnce = async (run: RunInput, progress: Progress, toolTry: ToolAttempt): Promise<ToolOutcome> => {
    const { call, callNumber, tries, tools: known } = toolTry;
    const tool = [...known, echoTool].find(({ definition }) => definition.name === call.name);
    if (!tool) return failedResult(`There is no tool ${call.name}.`);
    const remainingMs = deadlineMs(run, progress) - now();
    if (remainingMs <= 0) return failedResult("The run's time was over: nothing was called.");
    const requestId = toPublicId("request", run.id);
    try {
      return await tools.call(tool, call.arguments, {
        owner: run,
        requestId,
        // The same for every try of this call: a tool that remembers it does the work once.
        idempotencyKey: `${requestId}-${progress.step}.${callNumber}`,
        trace: spans.parents.toolCall(run, progress, toolTry),
        signal: AbortSignal.timeout(Math.min(remainingMs, callTimeoutMs)),
      });
    } catch (error) {
      const known = error instanceof TransientToolError ? error : undefined;
      if (!known) logger.warn({ err: error, tool: call.name, runId: requestId }, "tool call failed unexpectedly");
      const why = known?.message ?? `The tool ${call.name} could not be called.`;
      const retryAfterMs = Math.max(known?.retryAfterMs ?? 0, backoffMs(tries, Math.random()));
      const leftMs = Math.min(deadlineMs(run, progress) - now(), callTimeoutMs);
      if (tries < toolTries && retryAfterMs < leftMs) return { retryAfterMs, reason: why };
      return failedResult(`The tool failed: ${why}`, `${why} ${known?.advice ?? ""}`.trimEnd());
    }
  };

  return async (run, progress, toolTry) => {
    const { call, callNumber, tries } = toolTry;
    const { step } = progress;
    const event = { type: "tool", step, call: callNumber, name: call.name, attempt: tries } as const;
    const about = { step, call: callNumber, tool: call.name, ...attemptField(tries) };
    const startedAtMs = now();
    const logs = logSettingOf(run.definition);
    const isShown = run.streamed && logs !== "off";
    const input = isShown ? { arguments: displayArguments(call.arguments) } : {};
    if (toolTry.interrupted) publish(run, { ...event, status: "interrupted", reason: interruptedReason });
    publish(run, { ...event, status: "started", ...input });
    // Also makes the run visible, because a caller that may still cancel it must be able to see it.
    const result = (await isCancelled(run)) ? cancelledResult : await callOnce(run, progress, toolTry);
    const reason = reasonOf(result);
    const failed = reason !== undefined;
    spans.toolCall(run, progress, toolTry, {
      startedAtMs,
      failed,
      output: "content" in result ? result.content : undefined,
    });
    const failure = failed ? { reason } : {};
    const retry = "retryAfterMs" in result ? { retry_after_ms: result.retryAfterMs } : undefined;
    const output = isShown && "content" in result ? contentFor(logs, result.content) : undefined;
    const status = retry ? "retried" : failed ? "failed" : "completed";
    publish(run, { ...event, status, ...failure, ...retry, ...(output !== undefined && { output }) });
    const line = logLine(startedAtMs, failed ? "warn" : "info", `Tool call: ${call.name}`, {
      type: "tool_call",
      ...about,
      duration_ms: now() - startedAtMs,
      ...(failed && { failed, reason }),
      ...retry,
    });
    const repeated = toolTry.interrupted ? [interruptedLine(startedAtMs, call.name, { kind: "tool", ...about })] : [];
    return { ...result, log: [...repeated, line] };
  };
}
