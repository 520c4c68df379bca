import { digestFor, sealerFor } from "../../platform/sealing.ts";
import type { Resource } from "../resource.ts";
import { approvalHandlers } from "./approval-handlers.ts";
import { createApprovalLinks } from "./approval-link.ts";
import { createApprovalMetrics } from "./approval-metrics.ts";
import { findApproval } from "./approval-queries.ts";
import { createExpireApprovals, type ExpireDeps } from "./expire-approvals.ts";

export const approvalResource = {
  name: "approvals",
  tables: {
    approvals: {
      bound: "purge",
      // The record of their run is kept for as long.
      purge: { function: "purge_approvals", keptDays: [30] },
      agent: "purge_agent",
      users: { user_id: { by: "erase_user_runs" }, session_id: { by: "erase_user_runs" } },
    },
  },
  dataKeys: {
    approvalContents: sealerFor("approvals"),
    approvalDigest: digestFor("approval digests"),
    /** Links in deliveries, with which their receiver decides. */
    approvalLinks: { purpose: "approval links", create: createApprovalLinks },
  },
  audited: { approvals: "approval" },
  agentOf: { approval: async (trx, scope, id) => (await findApproval(trx, { ...scope, id }))?.agent_id },
  publishes: ["agent.action_required"],
  erasure: { receipt: { approvals: { store: "database", data: "approvals", action: "redacted" } } },
  metrics: createApprovalMetrics,
  handlers: approvalHandlers,
  sweeps: (deps: ExpireDeps) => [{ name: "expire approvals", everySeconds: 5, run: createExpireApprovals(deps) }],
} as const satisfies Resource;
