import type { ApprovalKind, ApprovalSummary } from "@perch/contract";
import type { Selectable } from "kysely";
import type { Approvals } from "../../db/generated-rows.ts";
import { toPublicId } from "../../platform/ids.ts";

/** The columns of a new approval that its event contains. */
export type AskedApproval = Pick<
  Selectable<Approvals>,
  | "id"
  | "agent_id"
  | "run_id"
  | "step"
  | "call"
  | "kind"
  | "tool"
  | "why"
  | "digest"
  | "environment"
  | "version"
  | "user_id"
  | "session_id"
  | "approvers"
  | "second_factor"
  | "created_at"
  | "expires_at"
>;

/**
 * The data of `agent.action_required`: the approval as it is listed. Never its arguments, which need the permission `approve`, and
 * never a link: an event is read with `read`, and a link decides.
 */
export const actionRequiredData = (row: AskedApproval, agentName: string): ApprovalSummary => ({
  id: toPublicId("approval", row.id),
  kind: row.kind as ApprovalKind,
  status: "open",
  agent_id: toPublicId("agent", row.agent_id),
  agent_name: agentName,
  request_id: toPublicId("request", row.run_id),
  environment: row.environment,
  version: row.version,
  user_id: row.user_id,
  session_id: row.session_id,
  tool: row.tool,
  step: row.step,
  call: row.call,
  why: row.why,
  digest: row.digest.toString("hex"),
  approvers: row.approvers,
  approved_by: [],
  second_factor: row.second_factor,
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  decided_at: null,
  decided_by: null,
  edited: false,
});
