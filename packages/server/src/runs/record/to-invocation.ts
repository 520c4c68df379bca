import type {
  Invocation,
  InvocationOfAnyAgent,
  InvocationResult,
  InvocationStatus,
  InvocationSummary,
} from "@perch/contract";
import type { FailureCode, RunOutcome } from "../../engine/messages.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { LogRow } from "../../resources/logs/log-queries.ts";
import { toLogEntry } from "../../resources/logs/to-log-entry.ts";
import type { InvocationRow, InvocationSummaryRow } from "./invocation-queries.ts";
import type { InvocationOfAnyAgentRow } from "./list-all-invocations.ts";

/** A run that failed before failures had a code counts as permanently failed, because nothing shows otherwise. */
export const failureOf = (found: { readonly code?: string | null; readonly retryable?: boolean | null }) => ({
  code: (found.code ?? "run_failed") as FailureCode,
  retryable: found.retryable ?? false,
});

const failureOfRow = ({ error_code, retryable }: InvocationSummaryRow) => failureOf({ code: error_code, retryable });

export const spentOf = (row: InvocationRow) => ({
  steps: row.steps,
  tokensUsed: row.tokens_used,
  durationMs: row.duration_ms ?? 0,
});

/** How a recorded run ended; undefined while it runs or waits. */
export function toOutcome(row: InvocationRow | undefined): RunOutcome | undefined {
  if (!row || row.status === "running" || row.status === "waiting") return undefined;
  const spent = spentOf(row);
  if (row.status === "completed") return { status: "completed", response: row.response ?? "", ...spent };
  const error = row.error ?? "";
  if (row.status === "cancelled") return { status: "cancelled", error, ...spent };
  return { status: "failed", error, ...failureOfRow(row), ...spent };
}

export const toResult = (id: string, outcome: RunOutcome & { status: "completed" }): InvocationResult => ({
  response: outcome.response,
  request_id: toPublicId("request", id),
  tokens_used: outcome.tokensUsed,
  duration_ms: outcome.durationMs,
});

function failureFields(row: InvocationSummaryRow): Pick<InvocationSummary, "error_code" | "retryable"> {
  if (row.status !== "failed") return { error_code: null, retryable: null };
  const { code, retryable } = failureOfRow(row);
  return { error_code: code, retryable };
}

export const toInvocationSummary = (row: InvocationSummaryRow): InvocationSummary => ({
  request_id: toPublicId("request", row.id),
  agent_id: toPublicId("agent", row.agent_id),
  status: row.status as InvocationStatus,
  environment: row.environment,
  version: row.version,
  deployment_id: row.deployment_id && toPublicId("deployment", row.deployment_id),
  user_id: row.user_id,
  session_id: row.session_id,
  error: row.error,
  ...failureFields(row),
  steps: row.steps,
  tokens_used: row.tokens_used,
  duration_ms: row.duration_ms,
  created_at: row.accepted_at.toISOString(),
  finished_at: row.finished_at?.toISOString() ?? null,
});

export const toInvocationOfAnyAgent = (row: InvocationOfAnyAgentRow): InvocationOfAnyAgent => ({
  ...toInvocationSummary(row),
  agent_name: row.agent_name,
});

export const toInvocation = (row: InvocationRow, log: readonly LogRow[]): Invocation => ({
  ...toInvocationSummary(row),
  message: row.message,
  response: row.response,
  timeline: log.map(toLogEntry),
});
