import type * as restate from "@restatedev/restate-sdk";
import { reconcile } from "../engine/services.ts";
import type { AgentKey } from "../platform/agent-key.ts";
import type { SlotScan } from "../runs/record/lost-slots.ts";
import { createPeriodicService } from "./periodic-service.ts";
import { retryTickUntilSuccess } from "./retry-policies.ts";

/** Each is bounded, and fails by leaving the rest to the next tick. */
export interface ReconcileSteps {
  readonly runs: () => Promise<void>;
  readonly deployments: () => Promise<void>;
  readonly canaries: () => Promise<void>;
  readonly waiting_runs: () => Promise<void>;
  readonly clears: () => Promise<void>;
  /** Returns where the next tick goes on, as the following one does. */
  readonly slots: (after: SlotScan | null) => Promise<SlotScan | null>;
  /** Goes on after this agent; returns where the next tick goes on. */
  readonly embeddings: (after: AgentKey | null) => Promise<AgentKey | null>;
}

interface ReconcileOptions {
  readonly now: () => Promise<number>;
  readonly everyMs: number;
  readonly steps: ReconcileSteps;
}

/** The object keeps where the next tick goes on. */
async function runPaged<T>(
  context: restate.ObjectContext,
  name: string,
  step: (after: T | null) => Promise<T | null>,
): Promise<void> {
  const after = await context.get<T>(name);
  const next = await context.run(name, () => step(after), retryTickUntilSuccess);
  if (next === null) context.clear(name);
  else context.set(name, next);
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
      await runPaged(context, "slots", steps.slots);
      await runPaged(context, "embeddings", steps.embeddings);
    },
  });
