import type { RunInput } from "../../engine/messages.ts";
import { PermanentToolError, TransientToolError } from "../../outbound/tools/tool-errors.ts";
import type { ListTools } from "../../outbound/tools/tools.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { logLine } from "../record/run-log.ts";
import type { RunRecord } from "../record/run-record.ts";
import type { Attempt, LogLine, Progress, Retry, RunFailure, ToolsResult } from "../run.ts";
import { afterFailure, deadlineMs, permanentFailure } from "./run-rules.ts";
import type { RunSpans } from "./run-spans.ts";
import { attemptField, interruptedLine, interruptedReason, type PublishStep, toReason } from "./step-events.ts";

interface ListToolsDeps {
  readonly tools: { readonly list: ListTools };
  readonly records: RunRecord;
  readonly spans: RunSpans;
  readonly publish: PublishStep;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Lists the tools once, so that a run sees the same ones to its end. */
export type ListToolsStep = (run: RunInput, progress: Progress, attempt: Attempt) => Promise<ToolsResult>;

const listTimeoutMs = 30_000;

interface ListFailure {
  readonly message: string;
  readonly next: Retry | { readonly failed: RunFailure };
}

export function createListToolsStep({ tools, records, spans, publish, logger, now }: ListToolsDeps): ListToolsStep {
  const list = (run: RunInput, progress: Progress) => {
    const listing = { requestId: toPublicId("request", run.id), trace: spans.parents.listing(run), floor: run.floor };
    const timeoutMs = Math.max(1, Math.min(deadlineMs(run, progress) - now(), listTimeoutMs));
    return tools.list(run.definition.tools, run, AbortSignal.timeout(timeoutMs), listing);
  };

  const toFailure = (
    run: RunInput,
    progress: Progress,
    attempt: Attempt,
    { error, startedAtMs }: { readonly error: unknown; readonly startedAtMs: number },
  ): ListFailure => {
    if (error instanceof PermanentToolError)
      return { message: error.message, next: { failed: permanentFailure(error.message) } };
    const known = error instanceof TransientToolError ? error : undefined;
    if (!known) logger.warn({ err: error, runId: run.id }, "tool listing failed");
    const failedAtMs = now();
    const remainingMs = deadlineMs(run, progress) - failedAtMs;
    const said = known?.message ?? "The tools could not be listed.";
    // An earlier failure is more useful than the timeout.
    const message = remainingMs <= 0 ? (attempt.failures.at(-1) ?? said) : said;
    const { retryAfterMs, isUnreachable = false, advice = "" } = known ?? {};
    const failure = { message, transient: true, retryAfterMs, isUnreachable, advice, startedAtMs, failedAtMs };
    // Fallback models would not find the tools either.
    const runWithoutFallbacks = { ...run, definition: { ...run.definition, fallback_models: [] } };
    return { message, next: afterFailure(runWithoutFallbacks, attempt, failure, remainingMs, Math.random()) };
  };

  return async (run, progress, attempt) => {
    const servers = run.definition.tools.filter(({ type }) => type === "mcp").map(({ name }) => name);
    const { tries } = attempt;
    const event = { type: "step", kind: "tools", step: 0, name: servers.join(", "), attempt: tries } as const;
    const about = { step: 0, servers, ...attemptField(tries) };
    const startedAtMs = now();
    const toLine = (level: "info" | "warn", message: string, more: object): LogLine =>
      logLine(startedAtMs, level, message, { type: "tools", ...about, duration_ms: now() - startedAtMs, ...more });
    // Without an MCP server there is no request, and no event to publish.
    const isAsked = servers.length > 0;
    if (isAsked && attempt.interrupted) publish(run, { ...event, status: "interrupted", reason: interruptedReason });
    const before = attempt.interrupted
      ? [...attempt.log, interruptedLine(startedAtMs, event.name, { kind: "tools", ...about })]
      : attempt.log;
    if (isAsked) publish(run, { ...event, status: "started" });
    try {
      const listed = await records.markRunningDuring(run, () => list(run, progress));
      if (!isAsked) return { tools: listed, log: attempt.log };
      publish(run, { ...event, status: "completed" });
      return { tools: listed, log: [...before, toLine("info", "Tools listed", { tools: listed.length })] };
    } catch (error) {
      const { message, next } = toFailure(run, progress, attempt, { error, startedAtMs });
      const isCancelled = "retry" in next && (await records.isCancelled(run));
      const retry = "retry" in next && !isCancelled ? { retry_after_ms: next.afterMs } : undefined;
      const reason = toReason(message);
      publish(run, { ...event, status: retry ? "retried" : "failed", reason, ...retry });
      const log = [...before, toLine("warn", message, { failed: true, reason, ...retry })];
      if ("failed" in next) return records.fail(run, progress, next.failed, log);
      return isCancelled ? records.cancel(run, progress, log) : { ...next, retry: { ...next.retry, log } };
    }
  };
}
