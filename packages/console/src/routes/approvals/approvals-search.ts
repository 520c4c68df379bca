import type { ApprovalFilter } from "../../api/approvals-queries.ts";

export interface ApprovalsSearch {
  readonly agent?: string | undefined;
  /** Open ones if it is absent; `any` for all of them. */
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
  readonly user?: string | undefined;
}

export const noFilters: ApprovalsSearch = { agent: undefined, status: undefined, kind: undefined, user: undefined };

export const countFilters = ({ agent, status, kind, user }: ApprovalsSearch): number =>
  [agent, status, kind, user].filter(Boolean).length;

/** The filter of the API request. */
export const filterOf = ({ agent, status = "open", kind, user }: ApprovalsSearch): ApprovalFilter => ({
  ...(status !== "any" && { status: status as NonNullable<ApprovalFilter["status"]> }),
  ...(kind !== undefined && { kind: kind as NonNullable<ApprovalFilter["kind"]> }),
  ...(agent !== undefined && { agent_id: agent }),
  ...(user !== undefined && { user_id: user }),
});
