import type { FastifyInstance } from "fastify";
import { createAgentDirectory } from "./agents/agent-directory.ts";
import { agentHandlers } from "./agents/agent-handlers.ts";
import type { Config } from "./config.ts";
import { type Database, openDatabase } from "./db/database.ts";
import { maintainPartitionsHourly } from "./db/partitions.ts";
import { createEngine } from "./engine/engine.ts";
import { registerWorker } from "./engine/register.ts";
import { type Endpoint, serveEndpoint } from "./engine/serve-endpoint.ts";
import type { Gate } from "./gate/gate.ts";
import { createLocalGate } from "./gate/local-gate.ts";
import { createOrganisationChanges } from "./gate/organisation-changes.ts";
import { strangerBucket } from "./gate/rates.ts";
import { rememberRefusals } from "./gate/remember-refusals.ts";
import { createResilientGate } from "./gate/resilient-gate.ts";
import { createLocalSlots, createSharedSlots, type RunSlots } from "./gate/run-slots.ts";
import { connectValkey, createValkeyGate } from "./gate/valkey-gate.ts";
import { createAdmission } from "./http/admit.ts";
import { createApp } from "./http/app.ts";
import { createKeyDirectory } from "./http/authenticate.ts";
import { databaseCheck } from "./http/health.ts";
import { createChangeOnce } from "./idempotency/change-once.ts";
import { invocationHandlers } from "./invocations/invocation-handlers.ts";
import { createRunSteps } from "./invocations/run-steps.ts";
import { keyHandlers } from "./keys/key-handlers.ts";
import { createKeyUsage } from "./keys/key-usage.ts";
import { createModels } from "./models/models.ts";
import type { Logger } from "./platform/logger.ts";
import { createDigest, createSealer, type Digest } from "./platform/secrets.ts";
import type { ShutdownStep } from "./platform/shutdown.ts";
import { runServices } from "./workflows/run-agent.ts";

export interface Core {
  readonly config: Config;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly db: Database;
  readonly gate: Gate;
  readonly slots: RunSlots;
  readonly keyDigest: Digest;
}

const wallClock = () => Date.now();

/** What every command and role needs: the database, and Valkey or what one process has in its place. */
export function composeCore(config: Config, logger: Logger, nowMs = wallClock): Core {
  const valkey = config.valkeyUrl ? connectValkey(config.valkeyUrl, logger) : undefined;
  const localGate = createLocalGate(nowMs);
  const localSlots = createLocalSlots(nowMs);
  return {
    config,
    logger,
    nowMs,
    db: openDatabase({ url: config.databaseUrl, connections: config.databaseConnections, logger }),
    gate: valkey
      ? createResilientGate({ shared: createValkeyGate(valkey), local: localGate, logger, now: nowMs })
      : localGate,
    slots: valkey ? createSharedSlots(valkey, localSlots) : localSlots,
    keyDigest: createDigest(config.masterKey, "api key digest"),
  };
}

export const closeCore = async ({ db, gate }: Core): Promise<void> => {
  await gate.close();
  await db.close();
};

/** Last of all, whatever the role. */
export const closeCoreStep = (core: Core): ShutdownStep => ({
  name: "close Valkey and the database pool",
  limitSeconds: 5,
  run: () => closeCore(core),
});

export interface Api {
  readonly app: FastifyInstance;
  readonly shutdownSteps: readonly ShutdownStep[];
}

/** Builds the API by hand, once, and says in which order it comes down. */
export async function composeApi(core: Core): Promise<Api> {
  const { config, logger, nowMs, db, slots, keyDigest } = core;
  await core.gate.ready();
  const now = () => new Date(nowMs());
  const gate = rememberRefusals(core.gate, nowMs);
  const agents = createAgentDirectory({ db, now: nowMs });
  const keys = createKeyDirectory({ db, keyDigest, now: nowMs });
  const keyUsage = createKeyUsage({ db, logger, everySeconds: 5 });
  const changes = createOrganisationChanges({ db, gate, logger, repairEverySeconds: 1 });
  const engine = createEngine({ ingressUrls: config.ingressUrls, logger });
  const partitions = maintainPartitionsHourly(db.unscoped, logger);
  const strangers = strangerBucket(config.strangerRequestsPerMinute);
  const app = await createApp({
    config,
    logger,
    handlers: {
      ...agentHandlers({ db, agents }),
      ...invocationHandlers({ db, agents, engine, slots, logger }),
      ...keyHandlers({ db, changes, keyDigest, now }),
    },
    admission: createAdmission({ gate, keys, agents, keyUsage, strangers, now }),
    changeOnce: createChangeOnce({ changes, answers: createSealer(config.masterKey, "idempotent answers") }),
    readiness: { database: databaseCheck(db) },
  });
  return {
    app,
    shutdownSteps: [
      { name: "stop accepting and drain requests", limitSeconds: 30, run: () => app.close() },
      { name: "close the doorway to the engine", limitSeconds: 5, run: engine.close },
      { name: "write when keys were last used", limitSeconds: 5, run: keyUsage.stop },
      { name: "settle epochs", limitSeconds: 5, run: changes.stop },
      { name: "stop maintaining partitions", limitSeconds: 1, run: async () => partitions.stop() },
    ],
  };
}

export interface Worker {
  readonly endpoint: Endpoint;
  readonly shutdownSteps: readonly ShutdownStep[];
}

/** Builds a worker: it serves the workflows and tells the engine so. */
export async function composeWorker({ config, logger, nowMs, db, slots }: Core): Promise<Worker> {
  const steps = createRunSteps({ db, slots, logger, now: nowMs, findModel: createModels(config) });
  const { workerHost: host, workerPort: port, identityKeys, adminUrls } = config;
  const endpoint = await serveEndpoint({ services: [...runServices(steps)], identityKeys, host, port, logger });
  const stopped = new AbortController();
  const workerUrl = config.workerUrl ?? `http://${host}:${endpoint.port}`;
  await registerWorker({ adminUrls, workerUrl, logger, signal: stopped.signal });
  return {
    endpoint,
    shutdownSteps: [
      { name: "stop registering", limitSeconds: 1, run: async () => stopped.abort() },
      { name: "stop taking steps", limitSeconds: 10, run: endpoint.close },
    ],
  };
}
