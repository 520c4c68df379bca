import { Counter, type Registry } from "prom-client";

/** The kinds of lost objects, and their repairs. */
const outcomes = {
  run: ["restarted", "failed", "cancelled", "recorded"],
  deployment: ["sent"],
  canary: ["sent"],
  embedding: ["sent"],
  slot: ["freed"],
} as const;

type Outcomes = typeof outcomes;

export interface ReconcileMetrics {
  readonly reconciled: <K extends keyof Outcomes>(kind: K, outcome: Outcomes[K][number]) => void;
}

export function createReconcileMetrics(registry: Registry): ReconcileMetrics {
  const reconciled = new Counter({
    name: "perch_reconciled_total",
    help: "Work that was open and that the engine had lost or ended, by kind and by what became of it. recorded: the engine had ended the run, and a restored database did not know. sent: given to the engine again. freed: a run slot whose run was not under way.",
    labelNames: ["kind", "outcome"],
    registers: [registry],
  });
  for (const [kind, names] of Object.entries(outcomes))
    for (const outcome of names) reconciled.inc({ kind, outcome }, 0);
  return { reconciled: (kind, outcome) => reconciled.inc({ kind, outcome }) };
}
