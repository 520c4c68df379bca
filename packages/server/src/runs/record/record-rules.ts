import type { EventType, InvocationStatus } from "@perch/contract";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import { toPublicId, uuidTime } from "../../platform/ids.ts";
import { ownerForRun, toExchangeText } from "../../resources/memory/memory-rules.ts";
import { durationBucket, durationBuckets } from "../../resources/metrics/metric-rules.ts";
import type { Transitions } from "../../resources/transitions.ts";
import type { LogLine, Session } from "../run.ts";

/** The states of an invocation. A run that ends quickly is inserted ended, and was never seen running. */
export const invocationTransitions = {
  start: { from: [null], to: "running" },
  complete: { from: [null, "running"], to: "completed" },
  fail: { from: [null, "running"], to: "failed" },
  cancel: { from: [null, "running"], to: "cancelled" },
  wait: { from: [null, "running"], to: "waiting" },
  continue: { from: ["waiting"], to: "running" },
} as const satisfies Transitions<InvocationStatus>;

/** The columns of a run that are known when it is accepted. */
export const acceptedRow = (run: RunInput) => ({
  organisation_id: run.organisationId,
  id: run.id,
  accepted_at: uuidTime(run.id),
  agent_id: run.agentId,
  environment: run.environment,
  version: run.version,
  deployment_id: run.deploymentId,
  trial: run.trial,
  user_id: run.userId,
  session_id: run.sessionId,
  message: run.message,
  ...(run.invoker !== undefined && { invoker: run.invoker }),
});

/** The row of a run that is seen before it ends: if the engine loses the run, it starts again with the same definition. */
export const runningRow = (run: RunInput) => ({
  ...acceptedRow(run),
  status: invocationTransitions.start.to,
  definition_digest: run.definitionDigest === undefined ? null : Buffer.from(run.definitionDigest, "base64url"),
});

/** Longer responses are truncated in the event: the record has them whole. */
const maxEventResponse = 65_536;

/** The run's workflow hands the deliveries over itself; the sweep only steps in after this long. */
const sweepAfterSeconds = 30;

const typeOf = ({ status }: RunOutcome): EventType => (status === "completed" ? "agent.completed" : "agent.failed");

/** A response that the event has whole is not repeated here: `record_runs` takes it from the record. */
const resultOf = (outcome: RunOutcome) => {
  if (outcome.status !== "completed") return { error: outcome.error };
  if (outcome.response.length <= maxEventResponse) return {};
  return { response: outcome.response.slice(0, maxEventResponse).toWellFormed(), response_truncated: true };
};

/** The one terminal event of a run: its id is the run's own. */
export const eventOf = (run: RunInput, outcome: RunOutcome) => ({
  type: typeOf(outcome),
  data: {
    request_id: toPublicId("request", run.id),
    agent_id: toPublicId("agent", run.agentId),
    environment: run.environment,
    version: run.version,
    status: outcome.status,
    tokens_used: outcome.tokensUsed,
    duration_ms: outcome.durationMs,
    user_id: run.userId,
    session_id: run.sessionId,
    ...resultOf(outcome),
  },
  sweep_after_seconds: sweepAfterSeconds,
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const startOf = (at: Date, ms: number): Date => new Date(Math.floor(at.getTime() / ms) * ms);

/**
 * The run's contribution to the metrics of its minute and of its hour; null for a cancelled run, which counts in none.
 */
export function rollupOf(run: RunInput, outcome: RunOutcome) {
  if (outcome.status === "cancelled") return null;
  const acceptedAt = uuidTime(run.id);
  return {
    minute: startOf(acceptedAt, minuteMs),
    hour: startOf(acceptedAt, hourMs),
    failed: outcome.status === "failed" ? 1 : 0,
    cost_micros: outcome.costMicros ?? 0,
    bucket: durationBucket(outcome.durationMs),
    buckets: durationBuckets,
  };
}

/** The memory of a run; null if its agent does not remember, or there is nothing to remember. */
export const memoryOf = (run: RunInput, outcome: RunOutcome) =>
  outcome.status === "completed" && run.definition.memory.remember
    ? {
        // One memory for one run: recorded once, it is there once.
        id: run.id,
        owner: ownerForRun(run.userId),
        session_id: run.sessionId,
        source_id: run.id,
        content: toExchangeText(run.message, outcome.response),
      }
    : null;

/** A run that did not fail has neither, so its record stays as short as it was. */
export const failureColumns = (outcome: RunOutcome) =>
  outcome.status === "failed" && outcome.code !== undefined
    ? { error_code: outcome.code, retryable: outcome.retryable ?? false }
    : {};

/** The stored record of a run apart from its memory, in the form that the function `record_runs` accepts. */
export const recordOf = (
  run: RunInput,
  outcome: RunOutcome,
  { turn }: Session,
  log: readonly LogLine[],
  contents?: string,
) => ({
  ...acceptedRow(run),
  status: outcome.status,
  response: outcome.status === "completed" ? outcome.response : null,
  error: outcome.status === "completed" ? null : outcome.error,
  ...failureColumns(outcome),
  steps: outcome.steps,
  tokens_used: outcome.tokensUsed,
  duration_ms: outcome.durationMs,
  // Only a completed turn becomes part of the session.
  turn: run.sessionId !== null && outcome.status === "completed" ? turn : null,
  owner: ownerForRun(run.userId),
  log,
  // Also marks that it has waited.
  ...(run.cut !== undefined && { lines_before: run.linesWritten ?? 0 }),
  ...(contents !== undefined && { contents }),
  rollup: rollupOf(run, outcome),
  event: eventOf(run, outcome),
});
