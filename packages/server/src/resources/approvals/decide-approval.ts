import type { ApprovalStatus, Decider } from "@perch/contract";
import type { Selectable } from "kysely";
import { isSameIdentity } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Approvals } from "../../db/generated-rows.ts";
import { conflict, forbidden, invalid, notFound } from "../../platform/api-error.ts";
import { parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { Digest, Sealer } from "../../platform/sealing.ts";
import { lockWaitingRun, type ReadyRun, updateReadyIfDecided } from "../waiting-runs/waiting-run-queries.ts";
import type { ApprovalMetrics, Verdict } from "./approval-metrics.ts";
import {
  type ApprovalChange,
  type ApprovalRow,
  findApproval,
  findApprovalForUpdate,
  updateApproval,
  type VisibleApproval,
  type Vote,
} from "./approval-queries.ts";
import { callDigest } from "./approval-rules.ts";
import { findTie } from "./find-tie.ts";
import { type ApprovalDecision, openCall, openDecision, sealDecision } from "./seal-approval.ts";
import { votesOf } from "./to-approval.ts";
import { listDecidingKeys } from "./vote-queries.ts";

/** Edited arguments, and answers, have been checked against their schema before. */
export type Decision =
  | { readonly verdict: "approve"; readonly digest?: string | undefined; readonly arguments?: unknown }
  | { readonly verdict: "reject"; readonly reason?: string | undefined }
  | { readonly verdict: "answer"; readonly answer: unknown };

export interface DecidedBy {
  /** The voter as `identityOf` names it. Null for the holder of a link, who does not count if several must approve. */
  readonly voter: string | null;
  readonly by: Decider;
}

export interface Decided {
  readonly approval: Selectable<Approvals>;
  /** The run, if this was the last decision that it waited for: start it once the transaction has committed. */
  readonly ready: ReadyRun | undefined;
  /** False: the same was decided before. */
  readonly changed: boolean;
}

/** Refuses by throwing before it writes anything. */
export type DecideApproval = (
  trx: OrganisationTransaction,
  approval: VisibleApproval,
  decision: Decision,
  decider: DecidedBy,
) => Promise<Decided>;

type LockedApproval = ApprovalRow & { readonly now: Date };
/** With the votes that count now. */
type CountedApproval = LockedApproval & { readonly counted: readonly Vote[] };

const approvalNotFound = (id: string) => notFound("approval", toPublicId("approval", id));

const refOf = ({ organisation_id, id }: ApprovalRow) => ({ organisationId: organisation_id, id });

const keyOf = ({ by }: Vote): string | undefined => (by.key_id === null ? undefined : parsePublicId("key", by.key_id));

/** Without the votes of keys that were revoked, have expired or lost `approve` since. Those of persons stay. */
async function countedVotes(trx: OrganisationTransaction, row: ApprovalRow): Promise<readonly Vote[]> {
  const votes = votesOf(row);
  const keys = votes.map(keyOf).filter((id) => id !== undefined);
  if (keys.length === 0) return votes;
  const deciding = await listDecidingKeys(trx, row.organisation_id, keys);
  return votes.filter((vote) => vote.by.type === "person" || deciding.has(keyOf(vote) ?? ""));
}

/** Locks the run before the approval, as all that decide, expire or cancel do. */
async function lockApproval(trx: OrganisationTransaction, approval: VisibleApproval): Promise<LockedApproval> {
  const found = await findApproval(trx, approval);
  if (!found) throw approvalNotFound(approval.id);
  await lockWaitingRun(trx, { organisationId: found.organisation_id, id: found.run_id });
  const locked = await findApprovalForUpdate(trx, approval);
  if (!locked) throw approvalNotFound(approval.id);
  return locked;
}

const statusOf = { approve: "approved", reject: "rejected", answer: "answered" } as const satisfies Record<
  Decision["verdict"],
  ApprovalStatus
>;

const deciderName = (row: ApprovalRow): string => {
  const by = row.decided_by as Decider | null;
  return by ? ` by ${by.type === "link" ? "a link" : `the ${by.type}`} ${by.name}` : "";
};

const alreadyDecided = (row: ApprovalRow) => {
  if (row.status === "cancelled")
    return conflict("This was cancelled with its run, so there is nothing to decide. Start a new run to ask again.");
  const edited = row.status === "approved" && row.edited ? ", with other arguments" : "";
  const at = row.decided_at ? ` at ${row.decided_at.toISOString()}` : "";
  return conflict(`This was ${row.status}${deciderName(row)}${at}${edited}. A decision cannot be changed.`);
};

const expired = ({ expires_at }: ApprovalRow) =>
  conflict(`This expired at ${expires_at.toISOString()}, which counts as rejected. Start a new run to ask again.`);

function refuseOtherKind({ kind, id }: ApprovalRow, { verdict }: Decision): void {
  const path = `/v1/approvals/${toPublicId("approval", id)}`;
  if (kind === "question" && verdict === "approve")
    throw conflict(`This is a question, which cannot be approved. Answer it with POST ${path}/answer.`);
  if (kind === "tool" && verdict === "answer")
    throw conflict(`This is a call and not a question. Decide with POST ${path}/approve or ${path}/reject.`);
}

const tieText = {
  invoker: "You started this run",
  creator: "This key or person made, or changed, the key that started this run",
  created: "The key or person that started this run made, or changed, your key",
} as const;

/** Neither the invoker nor who holds a key through it decides on its run, unless the policy allows it. */
async function refuseInvoker(trx: OrganisationTransaction, row: ApprovalRow, { voter }: DecidedBy): Promise<void> {
  const tie = await findTie(trx, row, voter);
  if (!tie) return;
  throw forbidden(
    `${tieText[tie]}, so you cannot decide on it: use another key with the permission \`approve\`. For later runs, \`invoker_may_decide\` in the agent's policy allows it, where no setting outside the version asks for approval.`,
  );
}

function refuseLinkAmongSeveral({ approvers, second_factor }: ApprovalRow, { voter }: DecidedBy): void {
  if (voter !== null) return;
  if (approvers > 1)
    throw forbidden(`${approvers} different keys or persons must approve this, and a link is neither. Use the API.`);
  if (second_factor)
    throw forbidden("This needs the code of a second factor, which a link does not have. Use the API.");
}

const isSame = (a: Buffer, b: Buffer | string): boolean => a.equals(typeof b === "string" ? Buffer.from(b, "hex") : b);

interface ContentKeys {
  readonly approvalContents: Sealer;
  readonly approvalDigest: Digest;
}

/** Whether these are the arguments that the row has now, as far as the decision names them. */
function isOfSameArguments(
  { approvalDigest }: ContentKeys,
  row: ApprovalRow,
  decision: Extract<Decision, { verdict: "approve" }>,
): boolean {
  if (decision.arguments !== undefined) return isSame(row.digest, callDigest(approvalDigest, row, decision.arguments));
  return decision.digest === undefined ? !row.edited : isSame(row.digest, decision.digest);
}

/** A reason is not compared, because it changes only the text for the model. */
function isSameDecision(keys: ContentKeys, row: ApprovalRow, decision: Decision): boolean {
  if (row.status !== statusOf[decision.verdict]) return false;
  if (decision.verdict === "approve") return isOfSameArguments(keys, row, decision);
  if (decision.verdict === "reject") return true;
  const { answer } = openDecision(keys.approvalContents, row.sealed_decision, refOf(row));
  return callDigest(keys.approvalDigest, row, answer).equals(callDigest(keys.approvalDigest, row, decision.answer));
}

/** The row with the arguments and the votes that an approval leaves it with. */
function addVote(
  keys: ContentKeys,
  row: CountedApproval,
  decision: Extract<Decision, { verdict: "approve" }>,
  decider: DecidedBy,
) {
  const vote: Vote = { ...decider, at: row.now.toISOString() };
  if (decision.arguments === undefined || isOfSameArguments(keys, row, decision))
    return { votes: [...row.counted, vote] };
  const { approvalContents, approvalDigest } = keys;
  const digest = callDigest(approvalDigest, row, decision.arguments);
  const original = openCall(approvalContents, row.sealed_call, refOf(row));
  return {
    digest,
    edited: !digest.equals(callDigest(approvalDigest, row, original.arguments)),
    sealed_decision: sealDecision(approvalContents, { arguments: decision.arguments }, refOf(row)),
    // No other voter has approved these arguments.
    votes: [vote],
  };
}

function refuseOtherDigest(row: ApprovalRow, { digest }: Extract<Decision, { verdict: "approve" }>): void {
  if (digest === undefined) {
    if (row.approvers > 1)
      throw invalid(
        "digest",
        `Required, because ${row.approvers} must approve the same: send \`digest\` of the approval`,
      );
  } else if (!isSame(row.digest, digest))
    throw conflict("The arguments have changed since: `digest` is another. Get the approval again, and look at it.");
}

/** The change of the decision; undefined if this voter has approved the same before. */
function changeOf(
  keys: ContentKeys,
  row: CountedApproval,
  decision: Decision,
  decider: DecidedBy,
): ApprovalChange | undefined {
  const end = (status: ApprovalStatus): ApprovalChange => ({ status, decided_at: row.now, decided_by: decider.by });
  if (decision.verdict === "approve") {
    const hasVoted = row.counted.some(
      ({ voter }) => voter !== null && decider.voter !== null && isSameIdentity(voter, decider.voter),
    );
    if (
      hasVoted &&
      isOfSameArguments(keys, row, { ...decision, digest: decision.digest ?? row.digest.toString("hex") })
    )
      return undefined;
    refuseOtherDigest(row, decision);
    const voted = addVote(keys, row, decision, decider);
    return { ...voted, ...(voted.votes.length >= row.approvers && end("approved")) };
  }
  const before = openDecision(keys.approvalContents, row.sealed_decision, refOf(row));
  const added: ApprovalDecision =
    decision.verdict === "answer"
      ? { answer: decision.answer }
      : { ...before, ...(decision.reason !== undefined && { reason: decision.reason }) };
  return {
    ...end(statusOf[decision.verdict]),
    sealed_decision: sealDecision(keys.approvalContents, added, refOf(row)),
  };
}

interface DecideDeps extends ContentKeys {
  readonly telemetry: Pick<ApprovalMetrics, "approvalDecided">;
}

/** The one way to decide, by the API or by a link. Decisions of one run take their turn at its row, so exactly one is the last. */
export const createDecideApproval =
  (deps: DecideDeps): DecideApproval =>
  async (trx, approval, decision, decider) => {
    const row = await lockApproval(trx, approval);
    refuseOtherKind(row, decision);
    await refuseInvoker(trx, row, decider);
    refuseLinkAmongSeveral(row, decider);
    if (row.status === "expired") throw expired(row);
    if (row.status !== "open") {
      if (!isSameDecision(deps, row, decision)) throw alreadyDecided(row);
      return { approval: row, ready: undefined, changed: false };
    }
    if (row.expires_at <= row.now) throw expired(row);
    const counted = await countedVotes(trx, row);
    const change = changeOf(deps, { ...row, counted }, decision, decider);
    if (!change) return { approval: row, ready: undefined, changed: false };
    const decided = await updateApproval(trx, approval, change);
    if (decided.status === "open") return { approval: decided, ready: undefined, changed: true };
    deps.telemetry.approvalDecided(decided.status as Verdict);
    const ready = await updateReadyIfDecided(trx, { organisationId: row.organisation_id, id: row.run_id });
    return { approval: decided, ready, changed: true };
  };
