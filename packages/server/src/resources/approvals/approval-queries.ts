import type { Decider } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Approvals } from "../../db/generated-rows.ts";
import { ofVisibleAgent, type VisibleAgents } from "../../db/of-visible-agent.ts";

export type ApprovalRow = Selectable<Approvals>;

/** An approval, and what part of the organisation whoever names it may see: all of it, if that is left out. */
export interface VisibleApproval extends Partial<VisibleAgents> {
  readonly organisationId: string;
  readonly id: string;
}

const selectApproval = (
  trx: OrganisationTransaction,
  { organisationId, id, onlyAgentId = null, hiddenAgentIds = [] }: VisibleApproval,
) =>
  trx
    .selectFrom("approvals")
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where(ofVisibleAgent({ onlyAgentId, hiddenAgentIds }));

export const findApproval = (
  trx: OrganisationTransaction,
  approval: VisibleApproval,
): Promise<ApprovalRow | undefined> => selectApproval(trx, approval).selectAll().executeTakeFirst();

/** With the database's clock, which decides what has expired. */
export const findApprovalForUpdate = (
  trx: OrganisationTransaction,
  approval: VisibleApproval,
): Promise<(ApprovalRow & { readonly now: Date }) | undefined> =>
  selectApproval(trx, approval).selectAll().select(sql<Date>`now()`.as("now")).forUpdate().executeTakeFirst();

/** One of those who approved these arguments. */
export interface Vote {
  /** As `voterOf` names who decides. Null: whoever held a link. */
  readonly voter: string | null;
  readonly by: Decider;
  readonly at: string;
}

export interface ApprovalChange
  extends Partial<Pick<ApprovalRow, "status" | "digest" | "edited" | "decided_at" | "sealed_decision">> {
  readonly votes?: readonly Vote[];
  readonly decided_by?: Decider;
}

export const updateApproval = (
  trx: OrganisationTransaction,
  { organisationId, id }: VisibleApproval,
  { votes, decided_by, ...columns }: ApprovalChange,
): Promise<ApprovalRow> =>
  trx
    .updateTable("approvals")
    .set({
      ...columns,
      ...(votes && { votes: JSON.stringify(votes) }),
      ...(decided_by && { decided_by: JSON.stringify(decided_by) }),
    })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
