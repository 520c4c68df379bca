import { createOrganisationChanges } from "../cache/organisation-changes.ts";
import { createEngine } from "../engine/engine.ts";
import type { Gate } from "../limits/gate.ts";
import type { RunSlots } from "../limits/run-slots.ts";
import type { ShutdownStep } from "../platform/shutdown.ts";
import { createEngineTasks } from "../resources/engine-tasks/engine-tasks.ts";
import { createContinueRuns } from "../resources/waiting-runs/continue-runs.ts";
import { type Core, depsOf } from "./core.ts";
import { createSweeps } from "./resources.ts";
import { runSweeps } from "./run-sweeps.ts";

/**
 * The work that every process hands over to the engine and to other processes, and the loop that repeats unfinished
 * work.
 */
export function composePeriodicWork(
  core: Core,
  { gate, slots }: { readonly gate: Pick<Gate, "replaceEpoch">; readonly slots: RunSlots },
) {
  const { config, db, logger, nowMs, telemetry } = core;
  const engine = createEngine({ ingressUrls: config.ingressUrls, logger, onFailure: telemetry.engineFailed });
  const changes = createOrganisationChanges({ db, replaceEpoch: gate.replaceEpoch, logger });
  const onCounted = telemetry.engineTasksCounted;
  const engineTasks = createEngineTasks({ db, engine, logger, now: nowMs, onCounted });
  const continueRuns = createContinueRuns({ db, engine, slots, logger });
  const sweeps = runSweeps(createSweeps({ ...depsOf(core), changes, engineTasks, continueRuns }), logger);
  const shutdownSteps: readonly ShutdownStep[] = [
    { name: "stop the sweeps", limitSeconds: 5, run: sweeps.stop },
    { name: "send engine tasks", limitSeconds: 5, run: engineTasks.finish },
    { name: "continue runs", limitSeconds: 5, run: continueRuns.finish },
    { name: "settle epochs", limitSeconds: 5, run: changes.repair },
  ];
  return { engine, changes, engineTasks, continueRuns, shutdownSteps };
}
