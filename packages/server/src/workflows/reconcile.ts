import type * as restate from "@restatedev/restate-sdk";
import { reconcile } from "../engine/services.ts";
import type { AgentKey } from "../platform/agent-key.ts";
import { createPeriodicService } from "./periodic-service.ts";
import { retryTickUntilSuccess } from "./retry-policies.ts";

/** Each is bounded, and fails by leaving the rest to the next tick. */
export interface ReconcileSteps {
  readonly runs: () => Promise<void>;
  readonly deployments: () => Promise<void>;
  readonly canaries: () => Promise<void>;
  readonly waiting_runs: () => Promise<void>;
  readonly clears: () => Promise<void>;
  /** Goes on after this agent; returns where the next tick goes on. */
  readonly embeddings: (after: AgentKey | null) => Promise<AgentKey | null>;
}

interface ReconcileOptions {
  readonly now: () => Promise<number>;
  readonly everyMs: number;
  readonly steps: ReconcileSteps;
}

/** Finds what the database has as open and the engine has lost. */
export const reconcileService = ({ now, everyMs, steps }: ReconcileOptions) =>
  createPeriodicService({
    name: reconcile,
    everyMs,
    now,
    tick: async (context: restate.ObjectContext) => {
      for (const name of ["runs", "deployments", "canaries", "waiting_runs", "clears"] as const)
        await context.run(name, steps[name], retryTickUntilSuccess);
      const after = await context.get<AgentKey>("embeddings");
      const next = await context.run("embeddings", () => steps.embeddings(after), retryTickUntilSuccess);
      if (next) context.set("embeddings", next);
      else context.clear("embeddings");
    },
  });
