import { type QuotaName, quotaNames } from "@perch/contract";
import { Counter, type Registry } from "prom-client";

export interface QuotaMetrics {
  readonly quotaRefused: (quota: QuotaName) => void;
}

const labelOf = (quota: QuotaName): string => quota.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function createQuotaMetrics(registry: Registry): QuotaMetrics {
  const refusals = new Counter({
    name: "perch_quota_refusals_total",
    help: "Requests refused because their organisation, or its agent, has as much as the tier allows, by quota.",
    labelNames: ["quota"],
    registers: [registry],
  });
  for (const quota of quotaNames) refusals.inc({ quota: labelOf(quota) }, 0);
  return { quotaRefused: (quota) => refusals.inc({ quota: labelOf(quota) }) };
}
