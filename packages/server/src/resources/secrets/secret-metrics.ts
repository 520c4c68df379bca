import { Counter, type Registry } from "prom-client";

const reasons = ["missing", "host", "approval"] as const;

export interface SecretMetrics {
  readonly secretRefused: (reason: (typeof reasons)[number]) => void;
}

export function createSecretMetrics(registry: Registry): SecretMetrics {
  const refusals = new Counter({
    name: "perch_secret_refusals_total",
    help: "Calls that were not made because of a secret they refer to, by reason. missing: there is none of that name. host: it is not for the address of the call. approval: no person approved the call.",
    labelNames: ["reason"],
    registers: [registry],
  });
  for (const reason of reasons) refusals.inc({ reason }, 0);
  return { secretRefused: (reason) => refusals.inc({ reason }) };
}
