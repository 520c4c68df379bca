import type { Engine } from "../engine/engine.ts";
import type { EngineRuns } from "../engine/engine-runs.ts";
import type { PagedStep, Step } from "../resources/resource.ts";
import type { ContinueRuns } from "../resources/waiting-runs/continue-runs.ts";
import type { RunRecord } from "../runs/record/run-record.ts";
import { reconcileService } from "../workflows/reconcile.ts";
import { type Core, depsOf } from "./core.ts";
import { createReconcile } from "./resources.ts";

/** Anything younger is probably under way. */
const maxMinAgeSeconds = 60;

/** The work of every few minutes, done once in a cell, so that nothing stays open for ever that the engine has lost. */
export function composeReconcile(
  core: Core,
  engine: Engine,
  engineRuns: EngineRuns,
  record: RunRecord["record"],
  continueRuns: Pick<ContinueRuns, "start">,
) {
  const { config, logger, nowMs } = core;
  const minAgeSeconds = Math.min(config.reconcileSeconds, maxMinAgeSeconds);
  const everyMs = config.reconcileSeconds * 1000;

  /** An engine or a database that does not answer now will at a later tick. */
  const orLater = (step: Step | PagedStep): Step | PagedStep => {
    const logFailure = (error: unknown): null => {
      logger.warn({ err: error, step: step.name }, "reconcile step failed, the next tick tries again");
      return null;
    };
    return "run" in step
      ? { ...step, run: async () => void (await step.run().catch(logFailure)) }
      : { ...step, runFrom: (after) => step.runFrom(after).catch(logFailure) };
  };
  const deps = { ...depsOf(core), engine, engineRuns, record, continueRuns, minAgeSeconds, everyMs };
  return reconcileService({ now: async () => nowMs(), everyMs, steps: createReconcile(deps).map(orLater) });
}
