import type { Database } from "../../db/database.ts";
import type { Engine } from "../../engine/engine.ts";
import type { RunOutcome, WaitingOutcome } from "../../engine/messages.ts";
import type { Share } from "../../fairness/shares.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import { ApiError } from "../../platform/api-error.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { publishRunStage } from "../../platform/run-stages.ts";
import type { AgentDirectory } from "../../resources/agents/agent-directory.ts";
import type { ServingDirectory } from "../../resources/deployments/serving-directory.ts";
import { single } from "../../resources/envelopes.ts";
import { type Handler, Reply, type RequestContext } from "../../resources/handlers.ts";
import type { Quotas } from "../../resources/quotas/quotas.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { findRecorded } from "../record/find-outcome.ts";
import { failureOf, toResult } from "../record/to-invocation.ts";
import { type AcceptedRun, appliedPreference, createAcceptRun } from "./accept-run.ts";
import { describeWaiting, detailsOfWaiting } from "./describe-waiting.ts";
import type { FollowRun } from "./follow-run.ts";
import { createMakeVisible } from "./make-visible.ts";
import { createWaitForContinuation } from "./wait-for-continuation.ts";

export interface InvokeDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly serving: ServingDirectory;
  readonly engine: Engine;
  readonly slots: RunSlots;
  readonly quotas: Pick<Quotas, "hasSpace" | "requireSpace">;
  /** How many requests of one organisation may wait for the end of their run at once. */
  readonly waitingRuns: Share;
  readonly followRun: FollowRun;
  readonly telemetry: Pick<Telemetry, "runAccepted">;
  readonly logger: Logger;
}

const detailsOf = (id: string) => [{ field: "request_id", error: toPublicId("request", id) }];

function resultOf(id: string, outcome: RunOutcome) {
  if (outcome.status === "completed") return single(toResult(id, outcome));
  const details = detailsOf(id);
  if (outcome.status === "cancelled") throw new ApiError("conflict", outcome.error, { details });
  const { code, retryable } = failureOf(outcome);
  throw new ApiError(code, `The run failed: ${outcome.error}`, { details, retryable });
}

/** Invoke: one decision (accept-run.ts), then one of five answers. */
export function createInvokeAgent(deps: InvokeDeps): Handler<"POST /v1/agents/{agent_id}/invoke"> {
  const { db, engine, slots, waitingRuns, followRun, telemetry, logger } = deps;
  const acceptRun = createAcceptRun(deps);
  const makeVisible = createMakeVisible(db, logger);
  const waitForContinuation = createWaitForContinuation({ db, engine });

  /** A run that the engine did not take gives its slot back. */
  const onEngine = async <T>({ run, tookSlot }: AcceptedRun, call: () => Promise<T>): Promise<T> => {
    if (tookSlot) telemetry.runAccepted();
    try {
      return await call();
    } catch (error) {
      if (tookSlot) await slots.release(run);
      throw error;
    }
  };

  const ensureVisible = async ({ run, isRecorded }: AcceptedRun): Promise<void> => {
    if (!isRecorded) await makeVisible(run);
  };

  const locationOf = ({ run }: AcceptedRun, agentRef: string): string =>
    `/v1/agents/${encodeURIComponent(agentRef)}/invocations/${toPublicId("request", run.id)}`;

  const acceptedHeaders = (accepted: AcceptedRun, agentRef: string, { prefer }: RequestContext) => {
    const applied = appliedPreference(prefer);
    return { location: locationOf(accepted, agentRef), ...(applied && { "preference-applied": applied }) };
  };

  const acceptedReply = async (accepted: AcceptedRun, agentRef: string, context: RequestContext) => {
    await ensureVisible(accepted);
    const request_id = toPublicId("request", accepted.run.id);
    const headers = acceptedHeaders(accepted, agentRef, context);
    return new Reply(202, headers, single({ request_id, status: "running" as const }));
  };

  /** The run waits for a person: 202 for a client that accepts an answer without the result, an error for one that expects it. */
  const waitingReply = (accepted: AcceptedRun, waiting: WaitingOutcome, agentRef: string, context: RequestContext) => {
    if (appliedPreference(context.prefer) !== undefined) {
      const request_id = toPublicId("request", accepted.run.id);
      const approvals = waiting.actions.map(({ id }) => toPublicId("approval", id));
      const headers = acceptedHeaders(accepted, agentRef, context);
      return new Reply(202, headers, single({ request_id, status: "waiting" as const, approvals }));
    }
    const location = locationOf(accepted, agentRef);
    const advice = context.idempotentRequest
      ? `Then repeat the request with the same Idempotency-Key to get its result, or read it at ${location}.`
      : `Then read its result at ${location}. Repeating the request would start another run, because it has no Idempotency-Key.`;
    const details = [...detailsOf(accepted.run.id), ...detailsOfWaiting(waiting)];
    throw new ApiError("action_required", `${describeWaiting(waiting)} ${advice}`, { details, location });
  };

  /** The wait is over before the run: 202 for a client that set the wait itself, an error for one that expects the result. */
  const unfinishedReply = async (accepted: AcceptedRun, agentRef: string, context: RequestContext) => {
    if (appliedPreference(context.prefer) !== undefined) return acceptedReply(accepted, agentRef, context);
    await ensureVisible(accepted);
    const location = locationOf(accepted, agentRef);
    const advice = context.idempotentRequest
      ? `Repeat the request with the same Idempotency-Key to get its result, or read it at ${location}.`
      : `Read its result at ${location}. Repeating the request would start another run, because it has no Idempotency-Key.`;
    const details = detailsOf(accepted.run.id);
    throw new ApiError("still_running", `The run has not ended yet, and goes on. ${advice}`, { details, location });
  };

  /** The engine cannot be reached any more, and may have accepted the run before: its record shows it. */
  const findRecord = async ({ run }: AcceptedRun, error: unknown) => {
    const found = await findRecorded(db, run).catch(() => undefined);
    if (!found?.isRecorded) throw error;
    return found.outcome ?? found.waiting;
  };

  const waitForResult = async (accepted: AcceptedRun, agentRef: string, context: RequestContext) => {
    const { run, waitMs, cut } = accepted;
    const result = await onEngine(accepted, () =>
      (cut === 0 ? engine.wait(run, waitMs) : waitForContinuation(run, waitMs, context.signal)).catch(
        (error: unknown) => findRecord(accepted, error),
      ),
    );
    publishRunStage(run.id, "engine_answered");
    if (!result) return unfinishedReply(accepted, agentRef, context);
    await slots.releaseLocal(run);
    if (result.slotHeldByCut !== undefined) await slots.release({ ...run, cut: result.slotHeldByCut });
    if (result.status === "waiting") return waitingReply(accepted, result, agentRef, context);
    return resultOf(run.id, result);
  };

  /** The engine forgets an hour later that a run began. One that has waited since then would begin again. */
  const startUnlessContinued = async (accepted: AcceptedRun): Promise<void> => {
    if (accepted.cut === 0) await onEngine(accepted, () => engine.start(accepted.run));
  };

  const startInBackground = async (accepted: AcceptedRun, agentRef: string, context: RequestContext) => {
    await startUnlessContinued(accepted);
    return acceptedReply(accepted, agentRef, context);
  };

  /** The organisation waits for as many runs as it may: a client that accepts 202 gets the run, any other is refused before it starts. */
  const replyWithoutWaiting = async (accepted: AcceptedRun, agentRef: string, context: RequestContext) => {
    const { run, isRecorded, tookSlot } = accepted;
    const refusal = waitingRuns.refusal(run.organisationId);
    if (appliedPreference(context.prefer) === undefined) {
      if (tookSlot) await slots.release(run);
      throw refusal;
    }
    // Hundreds may join one run, and none of them has to hand it over again.
    if (isRecorded) return acceptedReply(accepted, agentRef, context);
    const { tier } = context.caller.organisation;
    return startInBackground({ ...accepted, run: { ...run, streamed: true, tier } }, agentRef, context);
  };

  const waitIfAllowed = async (accepted: AcceptedRun, agentRef: string, context: RequestContext) => {
    const giveBack = waitingRuns.take(accepted.run.organisationId);
    if (!giveBack) return replyWithoutWaiting(accepted, agentRef, context);
    try {
      return await waitForResult(accepted, agentRef, context);
    } finally {
      giveBack();
    }
  };

  const streamEvents = async (accepted: AcceptedRun, agentRef: string, context: RequestContext) => {
    if (!accepted.outcome) {
      await startUnlessContinued(accepted);
      await ensureVisible(accepted);
    }
    return followRun(accepted.run, context, { location: locationOf(accepted, agentRef) });
  };

  return async ({ params, body }, context) => {
    const accepted = await acceptRun(context, params.agent_id, body);
    switch (accepted.answer) {
      case "json":
        return waitIfAllowed(accepted, params.agent_id, context);
      case "stream":
        return streamEvents(accepted, params.agent_id, context);
      case "accepted":
        return startInBackground(accepted, params.agent_id, context);
      case "replay":
        return resultOf(accepted.run.id, accepted.outcome);
      case "waiting":
        return waitingReply(accepted, accepted.waiting, params.agent_id, context);
    }
  };
}
