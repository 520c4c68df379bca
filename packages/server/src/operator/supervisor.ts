import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import type { Logger } from "../platform/logger.ts";
import { serveMetrics } from "../telemetry/serve-metrics.ts";
import { createSupervisorMetrics } from "../telemetry/supervisor-metrics.ts";
import { type ChildRole, createChildRole } from "./child-role.ts";
import { stopOnSignals } from "./signals.ts";

const firstPauseMs = 100;
const maxPauseMs = 2000;
/** A process that has run for so long starts again without a pause. */
const steadyMs = 10_000;

/** The settings of each process: half of the connections to the database. */
const childSettings = ({ databaseMaxConnections }: Config): NodeJS.ProcessEnv => ({
  ...process.env,
  PERCH_DATABASE_MAX_CONNECTIONS: String(Math.max(1, Math.floor(databaseMaxConnections / 2))),
});

/** Runs worker and API in a process each until SIGTERM or SIGINT. One that dies is started again. */
export async function superviseRoles(config: Config, logger: Logger): Promise<void> {
  const env = childSettings(config);
  // In this order; they stop the other way round, so that no request is left without a worker.
  const roles = [createChildRole("work", env), createChildRole("serve", env)];
  const metrics = createSupervisorMetrics(roles.map(({ name }) => name));
  let hasStarted = false;
  let isStopping = false;

  const stopAll = async (): Promise<boolean> => {
    isStopping = true;
    let isClean = true;
    for (const role of roles.toReversed()) isClean = (await role.stop()) && isClean;
    return isClean;
  };

  const keepRunning = async (role: ChildRole): Promise<void> => {
    for (let pauseMs = 0; ; ) {
      const startedAt = performance.now();
      await role.ended();
      pauseMs =
        performance.now() - startedAt > steadyMs ? 0 : Math.min(maxPauseMs, Math.max(firstPauseMs, 2 * pauseMs));
      if (!isStopping) await sleep(pauseMs);
      if (isStopping) return;
      logger.error({ role: role.name, ...role.end() }, "process ended, starting it again");
      metrics.restarted(role.name);
      // One that cannot start says why, and is tried again.
      await role.start().catch(() => undefined);
    }
  };

  const read = async () => {
    const texts = await Promise.all(roles.map(async ({ name, readMetrics }) => [name, await readMetrics()] as const));
    return metrics.read(new Map(texts));
  };
  const { metricsHost: host, metricsPort: port } = config;
  const served = port === undefined ? undefined : await serveMetrics({ read, host, port, logger });

  stopOnSignals(async (signal) => {
    logger.info({ signal }, "stopping both processes");
    const isClean = await stopAll();
    await served?.run();
    logger.info({ clean: isClean }, "stopped both processes");
    if (!hasStarted) process.exit(128 + constants.signals[signal]);
    process.exitCode = isClean ? 0 : 1;
  });
  for (const role of roles) {
    try {
      await role.start();
      if (isStopping) return;
      void keepRunning(role);
    } catch {
      if (isStopping) return;
      process.exitCode = role.end().code ?? 1;
      await stopAll();
      await served?.run();
      return;
    }
  }
  hasStarted = true;
}
