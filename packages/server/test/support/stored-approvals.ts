import type { ApprovalKind } from "@perch/contract";
import { sql } from "kysely";
import { newUuid, parsePublicId, toPublicId, uuidTime } from "../../src/platform/ids.ts";
import { callDigest } from "../../src/resources/approvals/approval-rules.ts";
import { sealCall } from "../../src/resources/approvals/seal-approval.ts";
import { sealWaitingState, type WaitingState } from "../../src/resources/waiting-runs/waiting-state.ts";
import { ok } from "./contract-client.ts";
import type { ApiNode, Organisation } from "./harness.ts";

export interface StoredCall {
  readonly kind?: ApprovalKind;
  readonly tool?: string;
  readonly arguments?: unknown;
  readonly parameters?: object;
  readonly question?: string;
  readonly approvers?: number;
  readonly secondFactor?: boolean;
  readonly invokerMayDecide?: boolean;
  /** From now on. If negative, it has expired, and no sweep has seen it. */
  readonly expiresInSeconds?: number;
}

export interface StoredWait {
  readonly agent?: string;
  readonly calls?: readonly StoredCall[];
  /** As `identityOf` names who started the run. */
  readonly invoker?: string;
  readonly userId?: string;
  readonly sessionId?: string;
  readonly message?: string;
  readonly before?: Pick<WaitingState, "progress" | "reply" | "results">;
}

export const amountSchema = {
  type: "object",
  properties: { amount: { type: "number", maximum: 1000 }, to: { type: "string" } },
  required: ["amount"],
  additionalProperties: false,
};

const nothingBefore = { progress: { step: 1, messages: [] }, reply: null, results: [] };

/**
 * A run that waits for persons, as a worker leaves it, and the public ids of its approvals. The run itself was never
 * executed.
 */
export async function insertWaitingRun(
  { server: { core } }: ApiNode,
  organisation: Organisation,
  {
    agent = "bot",
    calls = [{}],
    invoker,
    userId,
    sessionId,
    message = "Pay the invoice.",
    before = nothingBefore,
  }: StoredWait = {},
): Promise<{ readonly run: string; readonly approvals: readonly string[] }> {
  const found = ok(await organisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: agent } })).data;
  const organisationId = parsePublicId("organisation", organisation.id) ?? "";
  const agentId = parsePublicId("agent", found.id) ?? "";
  const id = newUuid();
  const shared = {
    organisation_id: organisationId,
    agent_id: agentId,
    user_id: userId ?? null,
    session_id: sessionId ?? null,
  };
  const approvals = calls.map(() => newUuid());
  await core.db.inOrganisation(organisationId, async (trx) => {
    const accepted_at = uuidTime(id);
    await trx
      .insertInto("invocations")
      .values({ ...shared, id, accepted_at, environment: "production", message, status: "waiting", cut: 1 })
      .execute();
    const sealed = sealWaitingState(
      core.keys.approvalContents,
      { organisationId, id, cut: 1 },
      { run: { message }, ...before },
    );
    await trx
      .insertInto("waiting_runs")
      .values({
        ...shared,
        ...{ id, accepted_at, cut: 1, waits_for: "decision", status: "waiting", sealed },
        ...{ timeout_seconds: 300, max_concurrent_runs: 10 },
      })
      .execute();
    for (const [i, call] of calls.entries()) {
      const { kind = "tool", tool = "pay", arguments: args = { amount: 250, to: "ACME" } } = call;
      const approval = { organisationId, id: approvals[i] ?? "" };
      const { parameters = amountSchema, question = null } = call;
      await trx
        .insertInto("approvals")
        .values({
          ...shared,
          ...{ id: approval.id, run_id: id, cut: 1, step: before.progress.step, call: i + 1, kind, tool },
          ...{ why: "The policy of the tool is `always`.", environment: "production", invoker: invoker ?? null },
          digest: callDigest(core.keys.approvalDigest, { id: approval.id, tool }, args),
          invoker_may_decide: call.invokerMayDecide ?? false,
          approvers: call.approvers ?? 1,
          second_factor: call.secondFactor ?? false,
          sealed_call: sealCall(core.keys.approvalContents, { arguments: args, parameters, question }, approval),
          expires_at: sql`now() + make_interval(secs => ${call.expiresInSeconds ?? 3600})`,
        })
        .execute();
    }
  });
  return { run: toPublicId("request", id), approvals: approvals.map((each) => toPublicId("approval", each)) };
}

/** An organisation with the agent `bot`, and a key that may decide. */
export async function createOrganisationWithApprover(
  perch: { readonly createOrganisation: () => Promise<Organisation> },
  permissions: readonly string[] = ["read", "approve"],
) {
  const organisation = await perch.createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  return { organisation, approver: await organisation.createKey({ permissions: [...permissions] }) };
}

/** Allows the organisation's admin key to decide, because no role may. */
export async function allowAdminToDecide({ call }: Organisation): Promise<void> {
  const { id: key_id, permissions } = ok(await call("GET /v1/me", {})).data.key;
  const body = { permissions: [...new Set([...permissions, "approve" as const])] };
  ok(await call("PATCH /v1/keys/{key_id}", { params: { key_id }, body }));
}

/** How far the run is that waits: `waiting` or `ready`. */
export async function waitingStatus({ server: { core } }: ApiNode, organisation: Organisation, run: string) {
  const organisationId = parsePublicId("organisation", organisation.id) ?? "";
  const row = await core.db.inOrganisation(organisationId, (trx) =>
    trx
      .selectFrom("waiting_runs")
      .select("status")
      .where("id", "=", parsePublicId("request", run) ?? "")
      .executeTakeFirst(),
  );
  return row?.status;
}
