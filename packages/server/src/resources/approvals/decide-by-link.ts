import type { Decider } from "@perch/contract";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import { ApiError } from "../../platform/api-error.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Sealer } from "../../platform/sealing.ts";
import { type AgentRow, findAgent } from "../agents/agent-queries.ts";
import { insertEntryWithoutCaller } from "../audit/audit-entry.ts";
import type { ContinueRuns } from "../waiting-runs/continue-runs.ts";
import { findWebhook, type WebhookRow } from "../webhooks/webhook-queries.ts";
import { type ApprovalLink, type ApprovalLinks, linkGeneration } from "./approval-link.ts";
import { type ApprovalRow, findApproval } from "./approval-queries.ts";
import type { CheckSchema } from "./check-schema.ts";
import type { DecideApproval, Decided, Decision } from "./decide-approval.ts";
import { type ApprovalCall, openCall } from "./seal-approval.ts";

/** The parts of an approval that the holder of a link may see. */
export interface LinkedApproval {
  readonly approval: ApprovalRow;
  readonly agentName: string;
  readonly call: ApprovalCall;
}

/** A person who opened a link, or sent its form. */
export interface LinkHolder {
  readonly token: string;
  /** Whether the agent's own settings admit this client. */
  readonly isAdmittedTo: (agent: AgentRow) => boolean;
  readonly address: string;
  readonly correlationId: string;
}

/** Why nothing was decided, in words for the holder. */
interface Refusal {
  readonly refused: string;
}

/** The holder's decision, checked against the approval. */
export type ToDecision = (linked: LinkedApproval) => Decision | Refusal;

/** Both are undefined for an invalid link, whatever the reason, because the reason would reveal what exists. */
export interface DecideByLink {
  readonly find: (holder: LinkHolder) => Promise<LinkedApproval | undefined>;
  readonly decide: (holder: LinkHolder, toDecision: ToDecision) => Promise<Decided | Refusal | undefined>;
}

interface LinkDeps {
  readonly db: Pick<Database, "inOrganisation">;
  readonly approvalLinks: Pick<ApprovalLinks, "open">;
  readonly approvalContents: Sealer;
  readonly decideApproval: DecideApproval;
  readonly checkSchema: CheckSchema["check"];
  readonly continueRuns: Pick<ContinueRuns, "start">;
  readonly now: () => Date;
}

/**
 * Whether the link belongs to the webhook's address and to the secret that signs its deliveries, or to the previous
 * secret while it still signs.
 */
const isOfGeneration = (webhook: WebhookRow, { generation }: ApprovalLink, now: Date): boolean => {
  const { url, sealed_secret, sealed_previous_secret, previous_until } = webhook;
  if (linkGeneration(sealed_secret, url).equals(generation)) return true;
  if (sealed_previous_secret === null || previous_until === null || previous_until <= now) return false;
  return linkGeneration(sealed_previous_secret, url).equals(generation);
};

/** Undefined if its owner has deleted or disabled it since, or took links away, or replaced its address or secret. */
async function findLinkingWebhook(trx: OrganisationTransaction, link: ApprovalLink, now: Date) {
  const scope = { organisationId: link.organisationId, onlyAgentId: null };
  const webhook = await findWebhook(trx, scope, link.webhookId);
  const isLinking = webhook?.approval_links && webhook.status === "enabled" && isOfGeneration(webhook, link, now);
  return isLinking ? webhook : undefined;
}

const deciderOf = ({ id, url }: WebhookRow): Decider => ({
  type: "link",
  key_id: null,
  webhook_id: toPublicId("webhook", id),
  name: new URL(url).host,
});

const operationOf = { approve: "approveApproval", reject: "rejectApproval", answer: "answerApproval" } as const;

const insertEntry = (
  trx: OrganisationTransaction,
  { organisation_id, id, agent_id }: ApprovalRow,
  { verdict }: Decision,
  { webhook_id }: Decider,
  { address, correlationId }: LinkHolder,
) =>
  insertEntryWithoutCaller(trx, organisation_id, {
    actor: "public",
    operation: operationOf[verdict],
    resourceType: "approval",
    resource: toPublicId("approval", id),
    agent: { id: agent_id },
    address,
    correlationId,
    details: { reason: `By a link that was delivered to the webhook ${webhook_id}.` },
  });

/** The refusal as the holder sees it. Undefined if another decision came first, or the approval is gone. */
function explainRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === "conflict" || error.code === "not_found") return undefined;
  if (error.code === "forbidden") return { refused: error.message };
  if (error.code !== "invalid_request") throw error;
  return { refused: (error.details ?? []).map(({ error: problem }) => `${problem}.`).join(" ") };
}

/** Decisions of a person without a key, by the link of a delivery. */
export function createDecideByLink(deps: LinkDeps): DecideByLink {
  const { db, approvalLinks, approvalContents, decideApproval, checkSchema, continueRuns, now } = deps;

  const findLinked = async (trx: OrganisationTransaction, link: ApprovalLink, { isAdmittedTo }: LinkHolder) => {
    const { organisationId, approvalId: id } = link;
    const webhook = await findLinkingWebhook(trx, link, now());
    if (!webhook) return undefined;
    const approval = await findApproval(trx, { organisationId, id, onlyAgentId: webhook.agent_id });
    if (approval?.status !== "open" || approval.expires_at <= now()) return undefined;
    const scope = { organisationId, onlyAgentId: null };
    const agent = await findAgent(trx, scope, toPublicId("agent", approval.agent_id));
    if (!agent || !isAdmittedTo(agent)) return undefined;
    const call = openCall(approvalContents, approval.sealed_call, { organisationId, id });
    return { approval, agentName: agent.name, call, webhook };
  };

  const commit = (link: ApprovalLink, holder: LinkHolder, decision: Decision): Promise<Decided | undefined> =>
    db.inOrganisation(link.organisationId, async (trx) => {
      // Again, because an answer is checked outside of the transaction.
      const linked = await findLinked(trx, link, holder);
      if (!linked) return undefined;
      const { approval, webhook } = linked;
      const by = deciderOf(webhook);
      const ref = { organisationId: approval.organisation_id, id: approval.id };
      const decided = await decideApproval(trx, ref, decision, { voter: null, by });
      // A link decides once. A second holder does not learn the first decision.
      if (!decided.changed) return undefined;
      await insertEntry(trx, approval, decision, by, holder);
      return decided;
    });

  const checkAnswer = async ({ approval, call }: LinkedApproval, decision: Decision): Promise<void> => {
    if (decision.verdict === "answer")
      await checkSchema(approval.organisation_id, call.parameters, decision.answer, "answer");
  };

  return {
    find: async (holder) => {
      const link = approvalLinks.open(holder.token, now());
      return link && db.inOrganisation(link.organisationId, (trx) => findLinked(trx, link, holder));
    },
    decide: async (holder, toDecision) => {
      const link = approvalLinks.open(holder.token, now());
      const linked = link && (await db.inOrganisation(link.organisationId, (trx) => findLinked(trx, link, holder)));
      if (!linked) return undefined;
      const decision = toDecision(linked);
      if ("refused" in decision) return decision;
      const decided = await checkAnswer(linked, decision)
        .then(() => commit(link, holder, decision))
        .catch(explainRefusal);
      if (decided && "ready" in decided && decided.ready) continueRuns.start(decided.ready);
      return decided;
    },
  };
}
