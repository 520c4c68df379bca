import type { FastifyInstance } from "fastify";
import { createAgentDirectory } from "./agents/agent-directory.ts";
import { agentHandlers } from "./agents/agent-handlers.ts";
import type { Config } from "./config.ts";
import { type Database, openDatabase } from "./db/database.ts";
import { maintainPartitionsHourly } from "./db/partitions.ts";
import type { Gate } from "./gate/gate.ts";
import { createLocalGate } from "./gate/local-gate.ts";
import { createOrganisationChanges } from "./gate/organisation-changes.ts";
import { strangerBucket } from "./gate/rates.ts";
import { rememberRefusals } from "./gate/remember-refusals.ts";
import { createResilientGate } from "./gate/resilient-gate.ts";
import { connectValkeyGate } from "./gate/valkey-gate.ts";
import { createAdmission } from "./http/admit.ts";
import { createApp } from "./http/app.ts";
import { createKeyDirectory } from "./http/authenticate.ts";
import { databaseCheck } from "./http/health.ts";
import { createChangeOnce } from "./idempotency/change-once.ts";
import { keyHandlers } from "./keys/key-handlers.ts";
import { createKeyUsage } from "./keys/key-usage.ts";
import type { Logger } from "./platform/logger.ts";
import { createDigest, createSealer, type Digest } from "./platform/secrets.ts";
import type { ShutdownStep } from "./platform/shutdown.ts";

export interface Core {
  readonly db: Database;
  readonly gate: Gate;
  readonly keyDigest: Digest;
}

export const wallClock = () => Date.now();

function composeGate({ valkeyUrl }: Config, logger: Logger, now: () => number): Gate {
  const local = createLocalGate(now);
  if (!valkeyUrl) return local;
  return createResilientGate({ shared: connectValkeyGate(valkeyUrl, logger), local, logger, now });
}

/** What every command needs. */
export const composeCore = (config: Config, logger: Logger, now = wallClock): Core => ({
  db: openDatabase({ url: config.databaseUrl, connections: config.databaseConnections, logger }),
  gate: composeGate(config, logger, now),
  keyDigest: createDigest(config.masterKey, "api key digest"),
});

export const closeCore = async ({ db, gate }: Core): Promise<void> => {
  await gate.close();
  await db.close();
};

export interface Server {
  readonly core: Core;
  readonly app: FastifyInstance;
  readonly shutdownSteps: readonly ShutdownStep[];
}

/** Builds the API by hand, once, and says in which order it comes down. */
export async function composeServer(config: Config, logger: Logger, nowMs = wallClock): Promise<Server> {
  const core = composeCore(config, logger, nowMs);
  await core.gate.ready();
  const { db, keyDigest } = core;
  const now = () => new Date(nowMs());
  const gate = rememberRefusals(core.gate, nowMs);
  const agents = createAgentDirectory({ db, now: nowMs });
  const keys = createKeyDirectory({ db, keyDigest, now: nowMs });
  const keyUsage = createKeyUsage({ db, logger, everySeconds: 5 });
  const changes = createOrganisationChanges({ db, gate, logger, repairEverySeconds: 1 });
  const partitions = maintainPartitionsHourly(db.unscoped, logger);
  const app = await createApp({
    config,
    logger,
    handlers: { ...agentHandlers({ db, agents }), ...keyHandlers({ db, changes, keyDigest, now }) },
    admission: createAdmission({
      gate,
      keys,
      agents,
      keyUsage,
      strangers: strangerBucket(config.strangerRequestsPerMinute),
      now,
    }),
    changeOnce: createChangeOnce({ changes, answers: createSealer(config.masterKey, "idempotent answers") }),
    readiness: { database: databaseCheck(db) },
  });
  return {
    core,
    app,
    shutdownSteps: [
      { name: "stop accepting and drain requests", limitSeconds: 30, run: () => app.close() },
      { name: "write when keys were last used", limitSeconds: 5, run: keyUsage.stop },
      { name: "settle epochs", limitSeconds: 5, run: changes.stop },
      { name: "stop maintaining partitions", limitSeconds: 1, run: async () => partitions.stop() },
      { name: "close Valkey and the database pool", limitSeconds: 5, run: () => closeCore(core) },
    ],
  };
}
