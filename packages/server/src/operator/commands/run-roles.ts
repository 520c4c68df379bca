import { listen } from "../../api/listen.ts";
import { composeApi } from "../../compose/api.ts";
import { closeCoreStep, composeCore } from "../../compose/core.ts";
import { placeOf } from "../../compose/own-endpoints.ts";
import { waitForDatabase } from "../../compose/wait-for-database.ts";
import { composeWorker } from "../../compose/worker.ts";
import type { Config } from "../../config/config.ts";
import { refuseOpenWorker } from "../../config/engine-settings.ts";
import { refuseUnfitDatabase } from "../../db/refuse-unfit-database.ts";
import type { Logger } from "../../platform/logger.ts";
import { type ShutdownStep, shutDown } from "../../platform/shutdown.ts";
import { version } from "../../platform/version.ts";
import { serveMetrics } from "../../telemetry/serve-metrics.ts";
import { type Stop, stopOnSignals } from "../signals.ts";
import { endWithSupervisor, followSupervisor } from "../supervised.ts";

interface Roles {
  readonly api: boolean;
  readonly worker: boolean;
  /** `all` started this process, and serves its metrics. */
  readonly isSupervised?: boolean;
}

interface Listening {
  api?: string;
  worker?: string;
  metrics?: string;
}

const roleOf = ({ api, worker }: Roles) => (api && worker ? "all" : api ? "serve" : "work");

/** The roles that run here, and their parts: only hosts and ports, because addresses contain passwords. */
const startLine = (config: Config, roles: Roles, listening: Listening) => ({
  version,
  role: roleOf(roles),
  listening,
  database: placeOf(config.databaseUrl),
  engine: (roles.worker ? [...config.ingressUrls, ...config.adminUrls] : config.ingressUrls).map(placeOf),
  valkey: config.valkeyUrl === undefined ? null : placeOf(config.valkeyUrl),
});

/** Runs the roles in one process until SIGTERM or SIGINT, then shuts down in order, the API first. */
async function runRoles(config: Config, logger: Logger, roles: Roles): Promise<void> {
  if (roles.isSupervised) endWithSupervisor();
  if (roles.worker) refuseOpenWorker(config);
  const core = composeCore(config, logger);
  const steps: ShutdownStep[] = [];
  const shutDownAll = () => shutDown([...steps, closeCoreStep(core)], logger);
  const { metricsHost: host, metricsPort: port } = config;
  const { read, watchProcess } = core.telemetry;
  const servesMetrics = port !== undefined && !roles.isSupervised;
  try {
    if (port !== undefined) watchProcess(roleOf(roles));
    if (servesMetrics) steps.push(await serveMetrics({ read, host, port, logger }));
    await waitForDatabase({ config, logger, target: { url: config.databaseUrl, source: "PERCH_DATABASE_URL" } }, () =>
      refuseUnfitDatabase(core.db.unscoped),
    );
    await core.shared.gate.ready();
    // Each that is away is one warning in the log.
    await core.dependencies.listSilent();
    const listening: Listening = servesMetrics ? { metrics: `${host}:${port}` } : {};
    if (roles.worker) {
      const { endpoint, shutdownSteps } = await composeWorker(core);
      steps.unshift(...shutdownSteps);
      listening.worker = `${config.workerHost}:${endpoint.port}`;
    }
    if (roles.api) {
      const { app, shutdownSteps } = await composeApi(core);
      steps.unshift(...shutdownSteps);
      listening.api = await listen(app, config.host, config.port);
    }
    logger.info(startLine(config, roles, listening), "started");
  } catch (error) {
    await shutDownAll();
    throw error;
  }
  const stop: Stop = async (signal) => {
    logger.info({ signal }, "stopping");
    const clean = await shutDownAll();
    logger.info({ clean }, "stopped");
    process.exitCode = clean ? 0 : 1;
    // An abandoned model call must not keep the process alive.
    setTimeout(() => process.exit(), 200).unref();
  };
  if (roles.isSupervised) followSupervisor({ stop, readMetrics: async () => (await read()).text });
  else stopOnSignals(stop);
}

const isSupervised = (args: readonly string[]): boolean => args.includes("--supervised");

export const serve = (config: Config, logger: Logger, args: readonly string[]) =>
  runRoles(config, logger, { api: true, worker: false, isSupervised: isSupervised(args) });
export const work = (config: Config, logger: Logger, args: readonly string[]) =>
  runRoles(config, logger, { api: false, worker: true, isSupervised: isSupervised(args) });
export const allInOne = (config: Config, logger: Logger) => runRoles(config, logger, { api: true, worker: true });
