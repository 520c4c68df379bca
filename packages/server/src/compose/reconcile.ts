import type { Engine } from "../engine/engine.ts";
import type { EngineRuns } from "../engine/engine-runs.ts";
import type { ContinueRuns } from "../resources/approvals/continue-runs.ts";
import { createSettleWaitingRuns } from "../resources/approvals/settle-waiting-runs.ts";
import {
  createRepairCanaryWatches,
  createRepairPendingDeployments,
} from "../resources/deployments/lost-deployments.ts";
import { createRepairEmbeddings } from "../resources/memory/lost-embeddings.ts";
import { finishOpenClears } from "../resources/memory/run-clear.ts";
import { createRepairLostRuns } from "../runs/record/lost-runs.ts";
import { createFreeLostSlots } from "../runs/record/lost-slots.ts";
import type { RunRecord } from "../runs/record/run-record.ts";
import { reconcileService } from "../workflows/reconcile.ts";
import type { Core } from "./core.ts";

/** What is younger is under way in all likelihood. */
const maxMinAgeSeconds = 60;
const minAgeOfEmbeddings = 5;
/** As long as the engine remembers that it was asked. */
const ticksPerEmbedding = 12;

/** What is done every few minutes, once in a cell, so that nothing stays open for ever that the engine has lost. */
export function composeReconcile(
  core: Core,
  engine: Engine,
  engineRuns: EngineRuns,
  record: RunRecord["record"],
  continueRuns: Pick<ContinueRuns, "start">,
) {
  const { config, logger, nowMs: now, telemetry, db, definitions, memory } = core;
  const minAgeSeconds = Math.min(config.reconcileSeconds, maxMinAgeSeconds);
  const everyMs = config.reconcileSeconds * 1000;
  const shared = { db, engine, logger, now, minAgeSeconds };

  /** An engine or a database that does not answer now will at a later tick. */
  const orLater =
    <A extends unknown[], T>(step: string, run: (...args: A) => Promise<T>, otherwise: T) =>
    async (...args: A): Promise<T> => {
      try {
        return await run(...args);
      } catch (error) {
        logger.warn({ err: error, step }, "reconcile step failed, the next tick tries again");
        return otherwise;
      }
    };

  const runs = createRepairLostRuns({
    ...shared,
    definitions,
    record,
    onRepaired: (outcome) => telemetry.reconciled("run", outcome),
  });
  const deployments = createRepairPendingDeployments({
    ...shared,
    onRepaired: () => telemetry.reconciled("deployment", "sent"),
  });
  const canaries = createRepairCanaryWatches({ ...shared, onRepaired: () => telemetry.reconciled("canary", "sent") });
  const embeddings = createRepairEmbeddings({
    ...shared,
    minAgeSeconds: minAgeSeconds * minAgeOfEmbeddings,
    onceInMs: everyMs * ticksPerEmbedding,
    onRepaired: () => telemetry.reconciled("embedding", "sent"),
  });
  const slots = createFreeLostSlots({
    ...shared,
    engineRuns,
    slots: core.slots,
    onFreed: () => telemetry.reconciled("slot", "freed"),
  });
  return reconcileService({
    now: async () => now(),
    everyMs,
    steps: {
      runs: orLater("runs", runs, undefined),
      deployments: orLater("deployments", deployments, undefined),
      canaries: orLater("canaries", canaries, undefined),
      waiting_runs: orLater("waiting_runs", createSettleWaitingRuns({ db, continueRuns, logger, now }), undefined),
      clears: orLater("clears", () => finishOpenClears(db, memory.runClear), undefined),
      slots: orLater("slots", slots, null),
      embeddings: orLater("embeddings", embeddings, null),
    },
  });
}
