import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { RequiredAction, RunInput, WaitingOutcome } from "../../engine/messages.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import type { ModelMessage, ModelReply } from "../../outbound/models/model.ts";
import { newUuid } from "../../platform/ids.ts";
import type { Digest, Sealer } from "../../platform/sealing.ts";
import { type AskedApproval, actionRequiredData } from "../../resources/approvals/action-required-event.ts";
import { callDigest } from "../../resources/approvals/approval-rules.ts";
import { sealCall } from "../../resources/approvals/seal-approval.ts";
import type { LogNotifications } from "../../resources/logs/log-notifications.ts";
import type { Quotas } from "../../resources/quotas/quotas.ts";
import { addRecordBytes } from "../../resources/quotas/stored-bytes.ts";
import { sealWaitingState } from "../../resources/waiting-runs/waiting-state.ts";
import type { RunStreams } from "../../streams/run-streams.ts";
import { logLine, openRunLog } from "../record/run-log.ts";
import type { RunRecord } from "../record/run-record.ts";
import { findTier } from "../record/running-run-queries.ts";
import {
  insertLogOfSuspension,
  insertWaitingRun,
  lockToSuspend,
  publishActionRequired,
  updateInvocationWaiting,
} from "../record/suspension-queries.ts";
import type { Ended, LogLine, Progress, QueuedDelivery } from "../run.ts";
import { type CallToDecide, callsToDecide } from "./calls-to-decide.ts";
import { addTokens, permanentFailure, transientFailure } from "./run-rules.ts";
import type { SuspendedState, WaitingReply } from "./run-suspension.ts";

interface SuspendDeps {
  readonly db: Database;
  readonly records: RunRecord;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
  readonly logNotifications: LogNotifications;
  readonly approvalContents: Sealer;
  readonly approvalDigest: Digest;
  readonly quotas: Pick<Quotas, "hasRoomToWait" | "message">;
  readonly now: () => number;
}

/** Ends the engine's part of a run that waits for persons, and suspends the run: everything that its continuation needs is in the database then. */
export type SuspendStep = (run: RunInput, progress: Progress, waiting: WaitingReply) => Promise<Ended>;

/** The same for a turn that waits until an earlier run of its session has ended. */
export type SuspendTurnStep = (run: RunInput, progress: Progress) => Promise<Ended>;

interface Suspension {
  readonly cut: number;
  readonly state: SuspendedState;
  readonly calls: readonly CallToDecide[];
  readonly lines: readonly LogLine[];
  readonly usage: Pick<WaitingOutcome, "steps" | "tokensUsed" | "durationMs" | "costMicros">;
}

interface Waiting {
  readonly actions: readonly RequiredAction[];
  readonly toDeliver: readonly QueuedDelivery[];
}

const toMessage = ({ text, toolCalls }: ModelReply): ModelMessage => ({ role: "assistant", content: text, toolCalls });

const questionOf = ({ call, tool }: CallToDecide): string | null => {
  if (tool.target.kind !== "person") return null;
  const { question } = (call.arguments ?? {}) as { readonly question?: unknown };
  return typeof question === "string" ? question : JSON.stringify(call.arguments ?? null);
};

const toAction = ({ id, kind, tool, step, call }: ApprovalRow): RequiredAction => ({
  id,
  kind: kind as RequiredAction["kind"],
  tool,
  step,
  call,
});

type ApprovalRow = AskedApproval & {
  readonly organisation_id: string;
  readonly cut: number;
  readonly invoker: string | null;
  readonly invoker_may_decide: boolean;
  readonly sealed_call: Buffer;
};

/** The bytes that a suspension adds to its organisation's storage. */
const storedBytes = (sealed: Buffer, rows: readonly ApprovalRow[], lines: readonly LogLine[]): number =>
  sealed.length +
  rows.reduce((sum, { sealed_call }) => sum + sealed_call.length, 0) +
  Buffer.byteLength(JSON.stringify(lines));

export function createSuspendStep(deps: SuspendDeps): {
  readonly suspend: SuspendStep;
  readonly suspendTurn: SuspendTurnStep;
} {
  const { db, records, slots, streams, logNotifications, approvalContents, approvalDigest, quotas, now } = deps;

  const toRow = (run: RunInput, { cut, state }: Suspension, wanted: CallToDecide): ApprovalRow => {
    const { call, callNumber, tool, why } = wanted;
    const { approvers, expiresAfterSeconds, invokerMayDecide, secondFactor } = tool.approval;
    const id = newUuid();
    const question = questionOf(wanted);
    const parameters = tool.target.kind === "person" ? tool.target.answer : tool.definition.parameters;
    return {
      organisation_id: run.organisationId,
      id,
      agent_id: run.agentId,
      run_id: run.id,
      cut,
      step: state.progress.step,
      call: callNumber,
      kind: question === null ? "tool" : "question",
      tool: call.name,
      why,
      digest: callDigest(approvalDigest, { id, tool: call.name }, call.arguments),
      environment: run.environment,
      version: run.version,
      user_id: run.userId,
      session_id: run.sessionId,
      invoker: run.invoker ?? null,
      invoker_may_decide: invokerMayDecide,
      approvers,
      second_factor: secondFactor,
      created_at: new Date(now()),
      expires_at: new Date(now() + expiresAfterSeconds * 1000),
      sealed_call: sealCall(
        approvalContents,
        { arguments: call.arguments, parameters, question },
        { organisationId: run.organisationId, id },
      ),
    };
  };

  const findActions = async (trx: OrganisationTransaction, run: RunInput, cut: number): Promise<RequiredAction[]> => {
    const rows = await trx
      .selectFrom("approvals")
      .select(["id", "kind", "tool", "step", "call"])
      .where("organisation_id", "=", run.organisationId)
      .where("run_id", "=", run.id)
      .where("cut", "=", cut)
      .orderBy("call")
      .execute();
    return rows.map((row) => toAction(row as ApprovalRow));
  };

  const insertSuspension = async (
    trx: OrganisationTransaction,
    run: RunInput,
    suspension: Suspension,
  ): Promise<Waiting> => {
    const { cut, state, calls, usage, lines } = suspension;
    const key = { organisationId: run.organisationId, id: run.id, cut };
    const sealed = sealWaitingState(approvalContents, key, state);
    const waitsFor = calls.length > 0 ? "decision" : "turn";
    const isNew = await insertWaitingRun(trx, run, { cut, waitsFor, sealed });
    // An earlier attempt of this step committed, and its deliveries are swept.
    if (!isNew) return { actions: await findActions(trx, run, cut), toDeliver: [] };
    await updateInvocationWaiting(trx, run, { cut, ...usage });
    await insertLogOfSuspension(trx, run, lines);
    const rows = calls.map((call) => toRow(run, suspension, call));
    await addRecordBytes(trx, run.organisationId, storedBytes(sealed, rows, lines));
    if (rows.length === 0) return { actions: [], toDeliver: [] };
    await trx.insertInto("approvals").values(rows).execute();
    const agent = await trx
      .selectFrom("agents")
      .select("name")
      .where("organisation_id", "=", run.organisationId)
      .where("id", "=", run.agentId)
      .executeTakeFirstOrThrow();
    const events = rows.map((row) => ({ id: row.id, data: actionRequiredData(row, agent.name) }));
    return { actions: rows.map(toAction), toDeliver: await publishActionRequired(trx, run, events) };
  };

  const waitingLines = (run: RunInput, progress: Progress, reply: ModelReply, calls: readonly CallToDecide[]) =>
    openRunLog(run, [
      ...records.shapedLog(run, { ...progress, messages: [...progress.messages, toMessage(reply)] }),
      ...calls.map(({ call, callNumber, why }) =>
        logLine(now(), "info", `Waits for a person: ${call.name}`, {
          type: "action_required",
          step: progress.step,
          call: callNumber,
          tool: call.name,
          why,
        }),
      ),
    ]);

  /** The tier of an organisation that has as many waiting runs as it may; else undefined. */
  const findTierWithoutRoom = async (trx: OrganisationTransaction, { organisationId }: RunInput) => {
    const tier = await findTier(trx, organisationId);
    return (await quotas.hasRoomToWait(trx, organisationId, tier)) ? undefined : tier;
  };

  const elapsedOf = ({ startedAtMs }: Progress): number => Math.max(0, Math.round(now() - startedAtMs));

  const suspendRun = async (
    run: RunInput,
    progress: Progress,
    part: Pick<SuspendedState, "reply" | "results" | "tools">,
  ): Promise<Ended> => {
    const calls = part.reply
      ? callsToDecide(part.reply, part.tools).filter(({ callNumber }) => part.results[callNumber - 1] === null)
      : [];
    const cut = (run.cut ?? 0) + 1;
    const lines = part.reply ? waitingLines(run, progress, part.reply, calls) : [];
    const elapsedMs = elapsedOf(progress);
    const suspendedRun: RunInput = { ...run, cut, linesWritten: (run.linesWritten ?? 0) + lines.length };
    const kept = lines.length > 0 ? [] : progress.log;
    const state: SuspendedState = {
      format: 1,
      run: suspendedRun,
      progress: { ...progress, log: kept },
      elapsedMs,
      ...part,
    };
    const usage = {
      steps: part.reply ? progress.step : 0,
      tokensUsed: part.reply ? addTokens(progress, part.reply) : 0,
      durationMs: elapsedMs,
      costMicros: progress.costMicros,
    };
    const result = await db.inOrganisation(run.organisationId, async (trx) => {
      const may = await lockToSuspend(trx, run);
      if (may !== "may wait" && may !== "waits") return may;
      const tier = may === "may wait" ? await findTierWithoutRoom(trx, run) : undefined;
      if (tier) return { full: tier };
      return insertSuspension(trx, run, { cut, state, calls, usage, lines });
    });
    if (result === "cancelled" || result === "deleted") return records.cancel(run, progress, []);
    // Its record counts, whatever the result of this attempt.
    if (result === "ended") return records.fail(run, progress, permanentFailure("The run had ended before."), []);
    if ("full" in result)
      return records.fail(run, progress, transientFailure(quotas.message("waitingRuns", result.full)), []);
    const isFree = await slots.release(run);
    logNotifications.publish(run.agentId, { run: run.id, after: run.linesWritten ?? 0 });
    if (run.streamed) await streams.append(run.id, { type: "end" }, run);
    const held = isFree ? {} : { slotHeldByCut: run.cut ?? 0 };
    const ended: WaitingOutcome = { status: "waiting", cut, actions: result.actions, ...usage, ...held };
    return { ended, toDeliver: result.toDeliver, unrecorded: null };
  };

  return {
    suspend: (run, progress, { reply, tools, results }) => suspendRun(run, progress, { reply, tools, results }),
    suspendTurn: (run, progress) => suspendRun(run, progress, { reply: null, tools: [], results: [] }),
  };
}
