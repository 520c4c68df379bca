import { type InputOf, type Operations, tierLimits } from "@perch/contract";
import { identityOf } from "../../auth/caller.ts";
import { tokenHeader } from "../../auth/token-user.ts";
import type { Database } from "../../db/database.ts";
import type { RunInput, RunOutcome, WaitingOutcome } from "../../engine/messages.ts";
import { leaseOf, type RunSlots } from "../../limits/run-slots.ts";
import { isRemoteUnderFloor } from "../../outbound/tools/floor-rules.ts";
import { ApiError, conflict, forbidden } from "../../platform/api-error.ts";
import { newUuid } from "../../platform/ids.ts";
import { publishRunStage } from "../../platform/run-stages.ts";
import type { AgentDirectory } from "../../resources/agents/agent-directory.ts";
import type { AgentRow } from "../../resources/agents/agent-queries.ts";
import { callsOthers, featuresNeededBy, mayNeedPerson } from "../../resources/agents/definition-features.ts";
import { requireUnderstood } from "../../resources/agents/require-understood.ts";
import { storedDefinition } from "../../resources/agents/to-agent.ts";
import type { ServingDirectory } from "../../resources/deployments/serving-directory.ts";
import type { RequestContext } from "../../resources/handlers.ts";
import type { Quotas } from "../../resources/quotas/quotas.ts";
import { findRecorded, type RecordedRun, unrecorded } from "../record/find-outcome.ts";
import { chooseVersion } from "./choose-version.ts";
import { claimRun } from "./claim-run.ts";
import { createRequireSessionFree } from "./require-session-free.ts";

type InvokeBody = InputOf<Operations["POST /v1/agents/{agent_id}/invoke"]>["body"];

/** How a request is answered. The outcome is that of a run which an earlier request started and which has ended. */
type Answer =
  | { readonly answer: "json" | "accepted"; readonly outcome: undefined }
  | { readonly answer: "stream"; readonly outcome: RunOutcome | undefined }
  | { readonly answer: "replay"; readonly outcome: RunOutcome }
  | { readonly answer: "waiting"; readonly outcome: undefined; readonly waiting: WaitingOutcome };

export type AcceptedRun = Answer & {
  readonly run: RunInput;
  /** How long to wait for the result. */
  readonly waitMs: number;
  /** An earlier request with the same Idempotency-Key stands for the run. */
  readonly isReplay: boolean;
  /** This request took the run's slot. One that joins a run under way did not. */
  readonly tookSlot: boolean;
  /** The run can be read already, so the engine has it. */
  readonly isRecorded: boolean;
  /** How often it has waited for a person. */
  readonly cut: number;
};

interface AcceptDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly serving: ServingDirectory;
  readonly slots: RunSlots;
  readonly quotas: Pick<Quotas, "hasSpace" | "requireSpace">;
}

/** The preference (RFC 7240) that led to an answer in the background, if one did. */
export const appliedPreference = (prefer = ""): string | undefined =>
  prefer
    .split(",")
    .map((item) => item.trim().toLowerCase())
    .find((item) => item === "respond-async" || /^wait=\d{1,4}$/.test(item));

/** As long as the run may take, unless `Prefer` sets another time. */
function preferredWaitMs(prefer: string | undefined, timeoutSeconds: number): number {
  const maxWaitMs = (timeoutSeconds + 5) * 1000;
  const applied = appliedPreference(prefer);
  if (applied === undefined) return maxWaitMs;
  return applied === "respond-async" ? 0 : Math.min(Number(applied.slice("wait=".length)) * 1000, maxWaitMs);
}

function answerFor(wantsEvents: boolean, waitMs: number, { outcome, waiting }: RecordedRun): Answer {
  if (wantsEvents && waitMs > 0) return { answer: "stream", outcome };
  if (outcome) return { answer: "replay", outcome };
  if (waiting) return { answer: "waiting", outcome, waiting };
  return { answer: waitMs > 0 ? "json" : "accepted", outcome };
}

/** The user of a verified token is the run's user. The user that a request names counts only without a token. */
function userOf({ user }: RequestContext["caller"], given: string | undefined): string | null {
  if (!user) return given ?? null;
  if (given !== undefined && given !== user.id)
    throw forbidden(
      `\`context.user_id\` is not the user of the token in \`${tokenHeader}\`. Leave it out: the token says who the user is.`,
    );
  return user.id;
}

/** Only runs of such callers record who started them: others see the runs of all, and a run costs them nothing more. */
const seesOwnRunsAlone = ({ permissions }: RequestContext["caller"]): boolean =>
  !permissions.has("read") || !permissions.has("write");

/** The quotas that a run needs space in. */
const spaceForRecord = ["recordBytes"] as const;
const spaceForMemory = ["recordBytes", "memoryBytes"] as const;

/** The one decision of an invoke: which run this request stands for, whether it may start, and how it is answered. */
export function createAcceptRun({ db, agents, serving, slots, quotas }: AcceptDeps) {
  const requireSessionFree = createRequireSessionFree(db);

  const takeSlot = async ({ caller }: RequestContext, agent: AgentRow, run: RunInput): Promise<void> => {
    if (agent.status === "paused")
      throw conflict(`The agent ${JSON.stringify(agent.name)} is paused. Resume it first.`);
    if (isRemoteUnderFloor(run.definition, storedDefinition(agent).security))
      throw conflict(
        "`security.approvals` of this agent asks for a person's approval of every call to the host of its remote agent, and remote agents cannot wait for one. Make it a tool, or remove the host.",
      );
    quotas.requireSpace(caller.organisation, run.definition.memory.remember ? spaceForMemory : spaceForRecord);
    await requireUnderstood(db, run.needs ?? []);
    await requireSessionFree(run);
    const { concurrentRuns } = tierLimits[caller.organisation.tier];
    const { timeout_seconds, max_concurrent_runs } = run.definition.limits;
    const full = await slots.take({
      ...run,
      organisationRuns: concurrentRuns,
      agentRuns: max_concurrent_runs,
      ...leaseOf(timeout_seconds),
    });
    if (!full) return;
    const [holder, limit] =
      full === "agent" ? ["This agent", max_concurrent_runs] : ["This organisation", concurrentRuns];
    throw new ApiError(
      "rate_limited",
      `${holder} has as many runs under way as it may (${limit}). Try again when one has ended.`,
      { retryAfterSeconds: 1 },
    );
  };

  /**
   * A run that an earlier request claimed. If it has neither a record nor a slot, the engine did not get it from that request, and
   * it starts now, like any run: only while the agent is not paused, and with a slot.
   */
  const joinOrStart = async (context: RequestContext, agent: AgentRow, run: RunInput) => {
    const recorded = await findRecorded(db, run);
    if (recorded.isRecorded || (await slots.isHeld(run))) return { recorded, tookSlot: false };
    // A run is recorded before its slot is free, so one that has ended or waits since then has a record now.
    const again = await findRecorded(db, run);
    if (again.isRecorded) return { recorded: again, tookSlot: false };
    await takeSlot(context, agent, run);
    return { recorded: again, tookSlot: true };
  };

  /** If the run will be refused for lack of space, its draft is not saved either. */
  const servingFor = ({ caller }: RequestContext): ServingDirectory =>
    quotas.hasSpace(caller.organisation, "recordBytes")
      ? serving
      : { ...serving, nameDraft: async (agent) => ({ definition: storedDefinition(agent).definition }) };

  return async (context: RequestContext, agentRef: string, body: InvokeBody): Promise<AcceptedRun> => {
    const { caller, idempotentRequest, prefer, events } = context;
    const { message, context: invocation = {} } = body;
    const userId = userOf(caller, invocation.user_id);
    const agent = await agents.get(context, agentRef);
    const chosen = await chooseVersion(servingFor(context), context, agent, { ...invocation, userId });
    const { definition } = chosen;
    const { security } = storedDefinition(agent);
    const agentKey = { organisationId: agent.organisation_id, agentId: agent.id };
    const floor = await serving.findApprovalFloor(agentKey, { definition, security }, context.epoch);
    const needs = featuresNeededBy(definition, floor);
    const waitMs = preferredWaitMs(prefer, definition.limits.timeout_seconds);
    // A run in the background may be followed later.
    const streamed = waitMs === 0 || events !== undefined;
    const run: RunInput = {
      id: newUuid(),
      acceptedAtMs: Date.now(),
      ...agentKey,
      ...chosen,
      message,
      userId,
      sessionId: invocation.session_id ?? null,
      streamed,
      ...((streamed || callsOthers(definition)) && { tier: caller.organisation.tier }),
      trace: context.trace,
      ...((seesOwnRunsAlone(caller) || mayNeedPerson(definition, floor)) && { invoker: identityOf(caller) }),
      ...(floor && { floor }),
      ...(needs.length > 0 && { needs }),
    };
    publishRunStage(run.id, "admitted", context.correlationId);
    const slot = {
      acquire: () => takeSlot(context, agent, run),
      release: async () => void (await slots.release(run)),
    };
    if (!idempotentRequest) await slot.acquire();
    const id = idempotentRequest ? await claimRun(db, caller, run, idempotentRequest, slot) : run.id;
    const isReplay = id !== run.id;
    const accepted = { ...run, id };
    const { recorded, tookSlot } = isReplay
      ? await joinOrStart(context, agent, accepted)
      : { recorded: unrecorded, tookSlot: true };
    publishRunStage(id, "slot_taken");
    if (isReplay) context.markReplayed();
    const { isRecorded, cut } = recorded;
    const answer = answerFor(events !== undefined, waitMs, recorded);
    return { run: accepted, waitMs, isReplay, tookSlot, isRecorded, cut, ...answer };
  };
}
