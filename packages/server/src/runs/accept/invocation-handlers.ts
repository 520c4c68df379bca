import type { InvocationOperationKey } from "@perch/contract";
import { requestedUser } from "../../auth/token-user.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Share } from "../../fairness/shares.ts";
import { notFound } from "../../platform/api-error.ts";
import { parseFilterId, parsePublicId } from "../../platform/ids.ts";
import { cappedPage, maxCounted, single, uncountedPage } from "../../resources/envelopes.ts";
import type { Handlers, RequestContext } from "../../resources/handlers.ts";
import { listLogsOfRun } from "../../resources/logs/log-queries.ts";
import type { ContinueRuns } from "../../resources/waiting-runs/continue-runs.ts";
import type { ReadyRun } from "../../resources/waiting-runs/waiting-run-queries.ts";
import type { RunStreams } from "../../streams/run-streams.ts";
import * as queries from "../record/invocation-queries.ts";
import { listAllInvocations } from "../record/list-all-invocations.ts";
import { fromRunCursor, toRunCursor } from "../record/run-list-rules.ts";
import { toInvocation, toInvocationOfAnyAgent, toInvocationSummary } from "../record/to-invocation.ts";
import { createFollowRun } from "./follow-run.ts";
import { createInvokeAgent, type InvokeDeps } from "./invoke-agent.ts";
import { requestCancel } from "./request-cancel.ts";

interface InvocationDeps extends Omit<InvokeDeps, "followRun"> {
  readonly streams: RunStreams;
  readonly continueRuns: Pick<ContinueRuns, "start">;
  readonly readsAcrossAgents: Pick<Share, "hold">;
  readonly nowMs: () => number;
}

export const invocationHandlers = (deps: InvocationDeps) => {
  const { db, agents, continueRuns, readsAcrossAgents, nowMs: now } = deps;
  const followRun = createFollowRun(deps);

  const findInvocation = async (
    context: RequestContext,
    { agent_id, request_id }: { agent_id: string; request_id: string },
  ) => {
    const { id: agentId } = await agents.get(context, agent_id);
    const id = parsePublicId("request", request_id);
    const ref = id && { ...context.scope, agentId, id };
    const row = ref && (await db.inOrganisation(ref.organisationId, (trx) => queries.findInvocation(trx, ref)));
    if (!row) throw notFound("invocation", request_id);
    return row;
  };

  /** The log is not for a key that sees the run only because it started it. */
  const withTimeline = async (trx: OrganisationTransaction, row: queries.InvocationRow, { scope }: RequestContext) => {
    const { organisation_id: organisationId, agent_id: agentId, id } = row;
    const hasLog = scope.onlyInvoker === undefined;
    return single(toInvocation(row, hasLog ? await listLogsOfRun(trx, { organisationId, agentId }, id) : []));
  };

  return {
    "POST /v1/agents/{agent_id}/invoke": createInvokeAgent({ ...deps, followRun }),

    "GET /v1/agents/{agent_id}/invocations": async ({ params, query }, context) => {
      const { organisationId } = context.scope;
      const agent = await agents.get(context, params.agent_id);
      const filter = { ...query, ...context.scope };
      return db.inOrganisation(organisationId, async (trx) => {
        const rows = await queries.listInvocations(trx, organisationId, agent.id, filter, query);
        const total = await queries.countInvocations(trx, organisationId, agent.id, filter, maxCounted + 1);
        return cappedPage(rows.map(toInvocationSummary), query, total);
      });
    },

    "GET /v1/invocations": async ({ query }, context) => {
      const { scope } = context;
      const { request_id, agent_id, deployment_id, cursor, limit, ...filter } = query;
      requestedUser(scope.onlyUserId, filter.user_id);
      const agentId = agent_id === undefined ? undefined : (await agents.get(context, agent_id)).id;
      const deploymentId = deployment_id && parseFilterId("deployment", deployment_id);
      const id = request_id && parseFilterId("request", request_id);
      const page = { limit, before: cursor === undefined ? undefined : fromRunCursor(cursor), nowMs: now() };
      const { rows, end } = await readsAcrossAgents.hold(scope.organisationId, () =>
        db.inOrganisation(scope.organisationId, (trx) =>
          listAllInvocations(trx, scope, { ...filter, id, agentId, deploymentId }, page),
        ),
      );
      return uncountedPage(rows.map(toInvocationOfAnyAgent), query, end === undefined ? null : toRunCursor(end));
    },

    "GET /v1/agents/{agent_id}/invocations/{request_id}": async ({ params }, context) => {
      const row = await findInvocation(context, params);
      if (!context.events) return db.inOrganisation(row.organisation_id, (trx) => withTimeline(trx, row, context));
      const run = { organisationId: row.organisation_id, agentId: row.agent_id, id: row.id };
      return followRun(run, context, {});
    },

    "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel": async ({ params }, context) => {
      const { organisation_id: organisationId, id, agent_id: agentId } = await findInvocation(context, params);
      let ready: ReadyRun | undefined;
      const answer = await context.change(async (trx) => {
        ready = await requestCancel(trx, { organisationId, id });
        const row = await queries.findInvocation(trx, { organisationId, id, agentId });
        if (!row) throw notFound("invocation", params.request_id);
        return withTimeline(trx, row, context);
      });
      if (ready) continueRuns.start(ready);
      return answer;
    },
  } satisfies Handlers<InvocationOperationKey>;
};
