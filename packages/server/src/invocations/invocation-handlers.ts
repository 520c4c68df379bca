import { type InvocationOperationKey, tierLimits } from "@perch/contract";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import type { Database } from "../db/database.ts";
import type { ServingDirectory } from "../deployments/serving-directory.ts";
import type { Engine } from "../engine/engine.ts";
import type { RunSlots } from "../gate/run-slots.ts";
import { type EventRequest, EventStream, type Handlers, Reply, type RequestContext } from "../handlers.ts";
import { listLogsOfRun } from "../logs/log-queries.ts";
import { ApiError, conflict, notFound } from "../platform/api-error.ts";
import { cappedPage, maxCounted, single } from "../platform/envelopes.ts";
import { newUuid, parsePublicId, toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import type { RunStreams } from "../streams/run-streams.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { appliedPreference, claimRun, createRunInput, preferredWaitMs } from "./accept-run.ts";
import { chooseVersion } from "./choose-version.ts";
import { followRun } from "./follow-run.ts";
import * as queries from "./invocation-queries.ts";
import type { RunInput, RunOutcome } from "./run.ts";
import { toInvocation, toInvocationSummary, toOutcome, toResult } from "./to-invocation.ts";

interface InvocationDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly serving: ServingDirectory;
  readonly engine: Engine;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
  readonly telemetry: Pick<Telemetry, "runAccepted">;
  readonly logger: Logger;
}

type RunRef = Pick<RunInput, "organisationId" | "agentId" | "id">;

function toReply(id: string, outcome: RunOutcome) {
  if (outcome.status === "completed") return single(toResult(id, outcome));
  const options = { details: [{ field: "request_id", error: toPublicId("request", id) }] };
  if (outcome.status === "cancelled") throw new ApiError("conflict", outcome.error, options);
  throw new ApiError("server_error", `The run failed: ${outcome.error}`, options);
}

export const invocationHandlers = ({
  db,
  agents,
  serving,
  engine,
  slots,
  streams,
  telemetry,
  logger,
}: InvocationDeps) => {
  const findInvocation = async (
    context: RequestContext,
    { agent_id, request_id }: { agent_id: string; request_id: string },
  ) => {
    const { id: agentId } = await agents.get(context, agent_id);
    const id = parsePublicId("request", request_id);
    const ref = id && { organisationId: context.scope.organisationId, agentId, id };
    const row = ref && (await db.inOrganisation(ref.organisationId, (trx) => queries.findInvocation(trx, ref)));
    if (!row) throw notFound("invocation", request_id);
    return row;
  };

  const toInvocationWithTimeline = (row: queries.InvocationRow) =>
    db.inOrganisation(row.organisation_id, async (trx) =>
      toInvocation(
        row,
        await listLogsOfRun(trx, { organisationId: row.organisation_id, agentId: row.agent_id }, row.id),
      ),
    );

  const takeSlot = async ({ caller }: RequestContext, run: RunInput): Promise<void> => {
    const { concurrentRuns } = tierLimits[caller.organisation.tier];
    const { timeout_seconds, max_concurrent_runs } = run.definition.limits;
    const full = await slots.take({
      ...run,
      organisationRuns: concurrentRuns,
      agentRuns: max_concurrent_runs,
      leaseSeconds: timeout_seconds + 60,
    });
    if (!full) return;
    const [owner, max] = full === "agent" ? ["This agent", max_concurrent_runs] : ["This organisation", concurrentRuns];
    throw new ApiError(
      "rate_limited",
      `${owner} has as many runs under way as it may (${max}). Try again when one has ended.`,
      { retryAfterSeconds: 1 },
    );
  };

  /** By id alone: the claim may have outlived its agent, and another agent may have its name now. */
  const findRunOutcome = async ({ organisationId, id }: RunRef): Promise<RunOutcome | undefined> =>
    toOutcome(await db.inOrganisation(organisationId, (trx) => queries.findInvocation(trx, { organisationId, id })));

  const createEventStream = (run: RunRef, { lastEventId }: EventRequest, headers: Record<string, string>) =>
    new EventStream(headers, (signal) => {
      const findOutcome = async () => {
        const outcome = await findRunOutcome(run);
        if (outcome) await slots.releaseLocal(run.organisationId, run.agentId, run.id);
        return outcome;
      };
      return followRun({ streams, findOutcome }, { runId: run.id, lastEventId, signal });
    });

  /** The engine has accepted the run by now: failing to write its row must not fail the request. */
  const markRunning = (run: RunInput): Promise<unknown> =>
    db
      .inOrganisation(run.organisationId, (trx) => queries.insertRunningInvocation(trx, run))
      .catch((error: unknown) => logger.warn({ err: error, runId: run.id }, "running invocation insert failed"));

  const locationOf = (run: RunRef, agentRef: string): string =>
    `/v1/agents/${encodeURIComponent(agentRef)}/invocations/${toPublicId("request", run.id)}`;

  const replyAccepted = async (run: RunInput, agentRef: string, prefer: string | undefined) => {
    await markRunning(run);
    const request_id = toPublicId("request", run.id);
    const location = locationOf(run, agentRef);
    const applied = appliedPreference(prefer);
    const headers = { location, ...(applied && { "preference-applied": applied }) };
    return new Reply(202, headers, single({ request_id, status: "running" as const }));
  };

  /** Undefined when the run goes on in the background. */
  const runOnEngine = async (run: RunInput, waitMs: number, joining: boolean): Promise<RunOutcome | undefined> => {
    if (!joining) telemetry.runAccepted();
    try {
      if (waitMs > 0) return await engine.wait(run, waitMs);
      await engine.start(run);
      return undefined;
    } catch (error) {
      // A request that only joined the run holds no slot.
      if (!joining) await slots.release(run.organisationId, run.agentId, run.id);
      throw error;
    }
  };

  return {
    "POST /v1/agents/{agent_id}/invoke": async ({ params, body }, context) => {
      const { caller, idempotentRequest, prefer, events } = context;
      const agent = await agents.get(context, params.agent_id);
      const chosen = await chooseVersion(serving, context, agent, body.context ?? {});
      const inBackground = preferredWaitMs(prefer, chosen.definition.limits.timeout_seconds) === 0;
      const streamed = inBackground || events !== undefined;
      const run = createRunInput(newUuid(), Date.now(), agent, chosen, body, streamed, context.trace);
      const admitRun = async () => {
        if (agent.status === "paused")
          throw conflict(`The agent ${JSON.stringify(agent.name)} is paused. Resume it first.`);
        await takeSlot(context, run);
      };
      const claimed =
        idempotentRequest &&
        (await claimRun(db, caller, run, idempotentRequest, {
          acquire: admitRun,
          release: () => slots.release(run.organisationId, run.agentId, run.id),
        }));
      if (!claimed) await admitRun();
      const id = claimed?.id ?? run.id;
      const claimedRun = { ...run, id };
      if (claimed?.replayed) context.markReplayed();
      const ended = claimed?.replayed ? await findRunOutcome(claimedRun) : undefined;
      if (events && !inBackground) {
        if (!ended) {
          await runOnEngine(claimedRun, 0, claimed?.replayed ?? false);
          await markRunning(claimedRun);
        }
        return createEventStream(claimedRun, events, { location: locationOf(claimedRun, params.agent_id) });
      }
      if (ended) return toReply(id, ended);
      const waitMs = preferredWaitMs(prefer, run.definition.limits.timeout_seconds);
      const outcome = await runOnEngine(claimedRun, waitMs, claimed?.replayed ?? false);
      if (!outcome) return replyAccepted(claimedRun, params.agent_id, prefer);
      await slots.releaseLocal(run.organisationId, run.agentId, id);
      return toReply(id, outcome);
    },

    "GET /v1/agents/{agent_id}/invocations": async ({ params, query }, context) => {
      const { organisationId } = context.scope;
      const agent = await agents.get(context, params.agent_id);
      return db.inOrganisation(organisationId, async (trx) => {
        const rows = await queries.listInvocations(trx, organisationId, agent.id, query, query);
        const total = await queries.countInvocations(trx, organisationId, agent.id, query, maxCounted + 1);
        return cappedPage(rows.map(toInvocationSummary), query, total);
      });
    },

    "GET /v1/agents/{agent_id}/invocations/{request_id}": async ({ params }, context) => {
      const row = await findInvocation(context, params);
      if (!context.events) return single(await toInvocationWithTimeline(row));
      return createEventStream(
        { organisationId: row.organisation_id, agentId: row.agent_id, id: row.id },
        context.events,
        {},
      );
    },

    "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel": async ({ params }, context) => {
      const { organisation_id: organisationId, id, agent_id: agentId } = await findInvocation(context, params);
      return context.change(async (trx) => {
        await queries.updateCancelRequested(trx, { organisationId, id });
        const row = await queries.findInvocation(trx, { organisationId, id, agentId });
        if (!row) throw notFound("invocation", params.request_id);
        return single(toInvocation(row, await listLogsOfRun(trx, { organisationId, agentId }, id)));
      });
    },
  } satisfies Handlers<InvocationOperationKey>;
};
