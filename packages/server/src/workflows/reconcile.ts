import type * as restate from "@restatedev/restate-sdk";
import { reconcile } from "../engine/services.ts";
import type { PagedStep, Step } from "../resources/resource.ts";
import { createPeriodicService } from "./periodic-service.ts";
import { retryTickUntilSuccess } from "./retry-policies.ts";

interface ReconcileOptions {
  readonly now: () => Promise<number>;
  readonly everyMs: number;
  readonly steps: readonly (Step | PagedStep)[];
}

/** The object stores the position at which the next tick continues. */
async function runPaged(context: restate.ObjectContext, { name, runFrom }: PagedStep): Promise<void> {
  const after = await context.get(name);
  const next = await context.run(name, () => runFrom(after as never), retryTickUntilSuccess);
  if (next === null) context.clear(name);
  else context.set(name, next);
}

/** Finds objects that are open in the database and that the engine has lost. */
export const reconcileService = ({ now, everyMs, steps }: ReconcileOptions) =>
  createPeriodicService({
    name: reconcile,
    everyMs,
    now,
    tick: async (context: restate.ObjectContext) => {
      for (const step of steps)
        if ("run" in step) await context.run(step.name, step.run, retryTickUntilSuccess);
        else await runPaged(context, step);
    },
  });
