import { Counter, type Registry } from "prom-client";

const methods = ["api_key", "link", "person"] as const;
const outcomes = ["succeeded", "refused", "unavailable"] as const;
const checkOutcomes = ["confirmed", "changed", "ended", "unavailable"] as const;

export interface SignInMetrics {
  readonly signedIn: (method: (typeof methods)[number], outcome: (typeof outcomes)[number]) => void;
  readonly personChecked: (outcome: (typeof checkOutcomes)[number]) => void;
}

export function createSignInMetrics(registry: Registry): SignInMetrics {
  const signIns = new Counter({
    name: "perch_console_sign_ins_total",
    help: "Attempts to sign in to the console, by method and outcome. unavailable: the issuer did not answer.",
    labelNames: ["method", "outcome"],
    registers: [registry],
  });
  for (const method of methods) for (const outcome of outcomes) signIns.inc({ method, outcome }, 0);
  const checks = new Counter({
    name: "perch_console_person_checks_total",
    help: "Times that the issuer was asked whether a signed-in person still has the role, by outcome. unavailable: it did not answer.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of checkOutcomes) checks.inc({ outcome }, 0);
  return {
    personChecked: (outcome) => checks.inc({ outcome }),
    signedIn: (method, outcome) => signIns.inc({ method, outcome }),
  };
}
