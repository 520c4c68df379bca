import type { ApprovalStatus } from "@perch/contract";
import { sql } from "kysely";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { ContinuedRun, RunInput, RunOutcome, RunResult } from "../../engine/messages.ts";
import { toPublicId, uuidTime } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Sealer } from "../../platform/sealing.ts";
import { openDecision } from "../../resources/approvals/seal-approval.ts";
import type { ContinueRuns } from "../../resources/waiting-runs/continue-runs.ts";
import type { WaitingRunMetrics } from "../../resources/waiting-runs/waiting-run-metrics.ts";
import { updateNextTurnReady } from "../../resources/waiting-runs/waiting-run-queries.ts";
import { openWaitingState } from "../../resources/waiting-runs/waiting-state.ts";
import { findInvocation, updateEnded } from "../record/invocation-queries.ts";
import { logLine } from "../record/run-log.ts";
import type { RunRecord } from "../record/run-record.ts";
import { toOutcome } from "../record/to-invocation.ts";
import type { Ended, LogLine, Progress } from "../run.ts";
import type { Resumed, ResumeResult, SuspendedState, Verdict } from "./run-suspension.ts";

interface ResumeDeps {
  readonly db: Database;
  readonly records: RunRecord;
  readonly continueRuns: Pick<ContinueRuns, "start">;
  readonly approvalContents: Sealer;
  readonly telemetry: Pick<WaitingRunMetrics, "runContinued">;
  readonly logger: Logger;
  readonly now: () => number;
}

export interface ResumeSteps {
  /**
   * The first step of a continuation: reads the run's state and the decisions, and sets the run's row to running again.
   */
  readonly resume: (run: ContinuedRun) => Promise<ResumeResult>;
  /** Ends a run that was cancelled while it waited. */
  readonly cancel: (run: RunInput, progress: Progress) => Promise<Ended>;
  /** The last step of a run that has waited: nothing of it is left to continue, and its session's next turn may begin. */
  readonly settle: (run: RunInput | ContinuedRun) => Promise<void>;
}

const lost = {
  status: "failed",
  error: "What this run waited with is no longer in the database. Start it again. Tools that it called may have acted.",
  code: "server_error",
  retryable: true,
  steps: 0,
  tokensUsed: 0,
  durationMs: 0,
} as const satisfies RunOutcome;

/** No retry helps. */
class UnreadableState extends Error {}

function read<T>(open: () => T): T {
  try {
    return open();
  } catch (cause) {
    throw new UnreadableState("What the run waited with cannot be read", { cause });
  }
}

const ended = (outcome: RunResult): Ended => ({ ended: outcome, toDeliver: [], unrecorded: null });

const said: Readonly<Record<Verdict["status"], string>> = {
  approved: "Approved",
  rejected: "Rejected",
  answered: "Answered",
  expired: "Not decided in time",
  cancelled: "Cancelled",
};

export function createResumeSteps(deps: ResumeDeps): ResumeSteps {
  const { db, records, continueRuns, approvalContents, telemetry, logger, now } = deps;

  const findVerdicts = async (trx: OrganisationTransaction, run: ContinuedRun): Promise<Verdict[]> => {
    const rows = await trx
      .selectFrom("approvals")
      .select(["id", "call", "status", "sealed_decision"])
      .where("organisation_id", "=", run.organisationId)
      .where("run_id", "=", run.id)
      .where("cut", "=", run.cut)
      .orderBy("call")
      .execute();
    return rows.map(({ id, call, status, sealed_decision }) => ({
      callNumber: call,
      status: status as Exclude<ApprovalStatus, "open">,
      ...read(() => openDecision(approvalContents, sealed_decision, { organisationId: run.organisationId, id })),
    }));
  };

  /** Returns whether the run is to end, because it was cancelled or its agent deleted. */
  const updateRunning = async (trx: OrganisationTransaction, run: ContinuedRun): Promise<boolean> => {
    const agent = await trx
      .selectFrom("agents")
      .select("deleted_at")
      .where("organisation_id", "=", run.organisationId)
      .where("id", "=", run.agentId)
      .executeTakeFirst();
    const rows = await trx
      .updateTable("invocations")
      .set({ status: "running" })
      .where("organisation_id", "=", run.organisationId)
      .where("id", "=", run.id)
      .where("accepted_at", "=", uuidTime(run.id))
      .where("status", "in", ["waiting", "running"])
      .returning("cancel_requested_at")
      .execute();
    return agent?.deleted_at !== null || rows[0]?.cancel_requested_at != null;
  };

  /** Undefined: it was continued to its end, or waits again. */
  const find = async (trx: OrganisationTransaction, run: ContinuedRun): Promise<Resumed | undefined> => {
    const row = await trx
      .selectFrom("waiting_runs")
      .select(["status", "sealed"])
      .where("organisation_id", "=", run.organisationId)
      .where("id", "=", run.id)
      .where("cut", "=", run.cut)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return undefined;
    // The request came too early. The engine repeats it, so the run is not lost.
    if (row.status === "waiting") throw new Error("The run still waits for a decision");
    const continued = await trx
      .updateTable("waiting_runs")
      .set({ status: "continued" })
      .where("organisation_id", "=", run.organisationId)
      .where("id", "=", run.id)
      .where("status", "=", "ready")
      .returning(sql<number>`extract(epoch from now() - ready_at)::float8`.as("delay_seconds"))
      .executeTakeFirst();
    if (continued) telemetry.runContinued(continued.delay_seconds);
    const isCancelled = await updateRunning(trx, run);
    const state = read(() => openWaitingState<SuspendedState>(approvalContents, run, row.sealed));
    return { state, verdicts: await findVerdicts(trx, run), isCancelled };
  };

  const findEnd = (run: ContinuedRun): Promise<RunResult> =>
    db.inOrganisation(run.organisationId, async (trx) => {
      const row = await findInvocation(trx, run);
      const outcome = toOutcome(row);
      if (outcome) return outcome;
      if (row?.status === "waiting" && row.cut > run.cut)
        return { ...lost, status: "waiting", cut: row.cut, actions: [] };
      await updateEnded(trx, run, lost);
      return lost;
    });

  const toLines = (verdicts: readonly Verdict[], { reply, progress }: SuspendedState): LogLine[] =>
    verdicts.map((verdict) => {
      const tool = reply?.toolCalls[verdict.callNumber - 1]?.name ?? "";
      return logLine(now(), "info", `${said[verdict.status]}: ${tool}`, {
        type: "decision",
        step: progress.step,
        call: verdict.callNumber,
        tool,
        status: verdict.status,
        ...(verdict.arguments !== undefined && { edited: true }),
      });
    });

  const settle: ResumeSteps["settle"] = async (run) => {
    const next = await db.inOrganisation(run.organisationId, async (trx) => {
      await sql`delete from waiting_runs where organisation_id = ${run.organisationId} and id = ${run.id}`.execute(trx);
      return run.sessionId === null ? undefined : updateNextTurnReady(trx, { ...run, sessionId: run.sessionId });
    });
    if (next) continueRuns.start(next);
  };

  /** Its stored state cannot be read, and never will be, so the run ends and its session goes on. */
  const endUnreadable = async (run: ContinuedRun, error: unknown): Promise<Ended> => {
    logger.error({ err: error, runId: toPublicId("request", run.id) }, "state of a waiting run is unreadable");
    await db.inOrganisation(run.organisationId, async (trx) => {
      await updateRunning(trx, run);
      await updateEnded(trx, run, lost);
    });
    await settle(run);
    return ended(lost);
  };

  const findOrEnd = async (run: ContinuedRun): Promise<Resumed | Ended | undefined> => {
    try {
      return await db.inOrganisation(run.organisationId, (trx) => find(trx, run));
    } catch (error) {
      if (!(error instanceof UnreadableState)) throw error;
      return endUnreadable(run, error);
    }
  };

  return {
    resume: async (run) => {
      const found = await findOrEnd(run);
      if (!found) return ended(await findEnd(run));
      if ("ended" in found) return found;
      const { state, verdicts, isCancelled } = found;
      const log = [...state.progress.log, ...toLines(verdicts, state)];
      const progress = { ...state.progress, startedAtMs: now() - state.elapsedMs, log };
      // A client may follow it now, even if it did not start as a stream.
      const continued = { ...state.run, streamed: true };
      return { state: { ...state, run: continued, progress }, verdicts, isCancelled } satisfies Resumed;
    },
    cancel: (run, progress) => records.cancel(run, progress, []),
    settle,
  };
}
