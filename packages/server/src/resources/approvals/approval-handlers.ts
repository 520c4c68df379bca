import type { ApprovalOperationKey } from "@perch/contract";
import { identityOf } from "../../auth/caller.ts";
import type { SecondFactor } from "../../auth/second-factor.ts";
import { requestedUser } from "../../auth/token-user.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { Share } from "../../fairness/shares.ts";
import { forbidden, invalid, notFound } from "../../platform/api-error.ts";
import { Uncached, Unchanged } from "../../platform/change-results.ts";
import { parseFilterId, parsePublicId, toPublicId, uuidTime } from "../../platform/ids.ts";
import type { Sealer } from "../../platform/sealing.ts";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import { single, uncountedPage } from "../envelopes.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import type { ContinueRuns } from "../waiting-runs/continue-runs.ts";
import type { ReadyRun } from "../waiting-runs/waiting-run-queries.ts";
import { openWaitingState } from "../waiting-runs/waiting-state.ts";
import * as queries from "./approval-queries.ts";
import { deciderOf } from "./approval-rules.ts";
import type { CheckSchema } from "./check-schema.ts";
import type { DecideApproval, Decision } from "./decide-approval.ts";
import { findTie } from "./find-tie.ts";
import { openCall, openDecision } from "./seal-approval.ts";
import { toApprovalSummary, toContents, toHistory } from "./to-approval.ts";

interface ApprovalDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly readsAcrossAgents: Pick<Share, "hold">;
  readonly approvalContents: Sealer;
  readonly secondFactor: Pick<SecondFactor, "verify" | "isEnrolled">;
  readonly checkSchema: CheckSchema["check"];
  readonly decideApproval: DecideApproval;
  readonly continueRuns: Pick<ContinueRuns, "start">;
}

const notEnrolled = () =>
  forbidden(
    "This decision needs a second factor, and this key has none. An admin begins its enrolment with POST /v1/keys/{key_id}/begin-mfa; then enrol with POST /v1/mfa.",
  );

const beforeOf = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const id = parsePublicId("approval", cursor);
  if (!id) throw invalid("cursor", "Expected `pagination.next_cursor` of another page");
  return id;
};

export const approvalHandlers = (deps: ApprovalDeps) => {
  const { db, agents, readsAcrossAgents, approvalContents, secondFactor, checkSchema, decideApproval, continueRuns } =
    deps;

  /** Foreign, unknown and malformed ids are refused alike. */
  const findRow = async (trx: OrganisationTransaction, { scope }: RequestContext, ref: string) => {
    const id = parsePublicId("approval", ref);
    const row = id && (await queries.findApproval(trx, { ...scope, id }));
    if (!row) throw notFound("approval", ref);
    return row;
  };

  const openContents = async (trx: OrganisationTransaction, row: queries.ApprovalRow) => {
    const approval = { organisationId: row.organisation_id, id: row.id };
    const { message, waiting } = await queries.findAskingRun(trx, row, uuidTime(row.run_id));
    const suspension = waiting && { organisationId: row.organisation_id, id: row.run_id, cut: waiting.cut };
    return toContents(row, {
      message,
      call: openCall(approvalContents, row.sealed_call, approval),
      decision: openDecision(approvalContents, row.sealed_decision, approval),
      history: suspension
        ? toHistory(openWaitingState(approvalContents, suspension, waiting.sealed), {
            step: row.step,
            isCurrent: suspension.cut === row.cut,
          })
        : [],
    });
  };

  const show = async (trx: OrganisationTransaction, context: RequestContext, ref: string) => {
    const row = await findRow(trx, context, ref);
    // The sealed call of an erased user is empty.
    const mayApprove = context.caller.permissions.has("approve");
    const contents = mayApprove && row.sealed_call.length > 0 ? await openContents(trx, row) : null;
    const canDecide = mayApprove && !(await findTie(trx, row, identityOf(context.caller)));
    return single({ ...toApprovalSummary(row), can_decide: canDecide, contents });
  };

  /** A person's text is checked before anything is locked. The schema that it is checked against never changes. */
  const checkWritten = async (row: queries.ApprovalRow, decision: Decision): Promise<void> => {
    const written =
      decision.verdict === "answer" && row.kind === "question"
        ? { value: decision.answer, field: "answer" }
        : decision.verdict === "approve" && row.kind === "tool" && decision.arguments !== undefined
          ? { value: decision.arguments, field: "arguments" }
          : undefined;
    if (!written) return;
    const { organisation_id: organisationId, id } = row;
    const { parameters } = openCall(approvalContents, row.sealed_call, { organisationId, id });
    await checkSchema(organisationId, parameters, written.value, written.field);
  };

  const verifySecondFactor = async ({ caller, mfaCode }: RequestContext): Promise<void> => {
    if (caller.keyId !== null && !(await secondFactor.isEnrolled(caller))) throw notEnrolled();
    await secondFactor.verify(caller, mfaCode);
  };

  const decide = async (context: RequestContext, ref: string, decision: Decision) => {
    const { scope, caller } = context;
    const row = await db.inOrganisation(scope.organisationId, (trx) => findRow(trx, context, ref));
    // Nothing changes one that is decided, so a repeated decision needs no other code.
    if (row.status === "open") {
      await checkWritten(row, decision);
      if (row.second_factor) await verifySecondFactor(context);
    }
    let ready: ReadyRun | undefined;
    const answer = await context.change(async (trx) => {
      const decider = { voter: identityOf(caller), by: deciderOf(caller) };
      const decided = await decideApproval(trx, { ...scope, id: row.id }, decision, decider);
      ready = decided.ready;
      const shown = await show(trx, context, ref);
      return decided.changed ? new Uncached(shown) : new Unchanged(shown);
    });
    if (ready) continueRuns.start(ready);
    return answer;
  };

  return {
    "GET /v1/approvals": async ({ query }, context) => {
      const { scope } = context;
      const { agent_id, request_id, cursor, limit, ...filter } = query;
      const agentId = agent_id === undefined ? undefined : (await agents.get(context, agent_id)).id;
      requestedUser(scope.onlyUserId, filter.user_id);
      const runId = request_id && parseFilterId("request", request_id);
      const page = { limit, before: beforeOf(cursor) };
      return readsAcrossAgents.hold(scope.organisationId, () =>
        db.inOrganisation(scope.organisationId, async (trx) => {
          const { rows, end } = await queries.listApprovals(trx, scope, { ...filter, agentId, runId }, page);
          const open = await queries.countOpenApprovals(trx, scope, agentId);
          return {
            ...uncountedPage(
              rows.map(toApprovalSummary),
              query,
              end === undefined ? null : toPublicId("approval", end),
            ),
            open: {
              count: open.count,
              relation: open.hasMore ? ("gte" as const) : ("eq" as const),
            },
          };
        }),
      );
    },

    "GET /v1/approvals/{approval_id}": ({ params }, context) =>
      db.inOrganisation(context.scope.organisationId, (trx) => show(trx, context, params.approval_id)),

    "POST /v1/approvals/{approval_id}/approve": ({ params, body }, context) =>
      decide(context, params.approval_id, { verdict: "approve", ...body }),

    "POST /v1/approvals/{approval_id}/reject": ({ params, body }, context) =>
      decide(context, params.approval_id, { verdict: "reject", ...body }),

    "POST /v1/approvals/{approval_id}/answer": ({ params, body }, context) =>
      decide(context, params.approval_id, { verdict: "answer", ...body }),
  } satisfies Handlers<ApprovalOperationKey>;
};
