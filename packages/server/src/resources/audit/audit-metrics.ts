import { Counter, type Registry } from "prom-client";

const reasons = ["busy", "failed", "unauthenticated"] as const;

export interface AuditMetrics {
  readonly refusalNotAudited: (reason: (typeof reasons)[number]) => void;
}

export function createAuditMetrics(registry: Registry): AuditMetrics {
  const dropped = new Counter({
    name: "perch_audit_refusals_dropped_total",
    help: "Refused changes without an entry in the audit log, by reason. busy: too many entries of one organisation at once. failed: the database did not take the entry. unauthenticated: no valid key was sent, so there is no organisation whose log could have it.",
    labelNames: ["reason"],
    registers: [registry],
  });
  for (const reason of reasons) dropped.inc({ reason }, 0);
  return { refusalNotAudited: (reason) => dropped.inc({ reason }) };
}
