import type { ApprovalStatus } from "@perch/contract";
import { Counter, type Registry } from "prom-client";

export type Verdict = Exclude<ApprovalStatus, "open">;

export interface ApprovalMetrics {
  readonly approvalDecided: (verdict: Verdict, approvals?: number) => void;
}

const verdicts = ["approved", "rejected", "answered", "expired", "cancelled"] as const satisfies readonly Verdict[];

export function createApprovalMetrics(registry: Registry): ApprovalMetrics {
  const decisions = new Counter({
    name: "perch_approval_decisions_total",
    help: "Approvals that are no longer open, by verdict. expired: no decision came in time. cancelled: the run was cancelled. If several must approve, the last of them counts.",
    labelNames: ["verdict"],
    registers: [registry],
  });
  for (const verdict of verdicts) decisions.inc({ verdict }, 0);
  return { approvalDecided: (verdict, approvals = 1) => decisions.inc({ verdict }, approvals) };
}
