import type { FastifyInstance } from "fastify";
import { agentHandlers } from "./agents/agent-handlers.ts";
import type { Config } from "./config.ts";
import { type Database, openDatabase } from "./db/database.ts";
import { createApp } from "./http/app.ts";
import { createAuthenticate } from "./http/authenticate.ts";
import { databaseCheck } from "./http/health.ts";
import { keyHandlers } from "./keys/key-handlers.ts";
import { createKeyUsage } from "./keys/key-usage.ts";
import type { Logger } from "./platform/logger.ts";
import { createDigest, type Digest } from "./platform/secrets.ts";
import type { ShutdownStep } from "./platform/shutdown.ts";

export interface Core {
  readonly db: Database;
  readonly keyDigest: Digest;
}

/** What every command needs. */
export const composeCore = (config: Config, logger: Logger): Core => ({
  db: openDatabase({ url: config.databaseUrl, connections: config.databaseConnections, logger }),
  keyDigest: createDigest(config.masterKey, "api key digest"),
});

export interface Server {
  readonly core: Core;
  readonly app: FastifyInstance;
  readonly shutdownSteps: readonly ShutdownStep[];
}

/** Builds the API by hand, once, and says in which order it comes down. */
export async function composeServer(config: Config, logger: Logger): Promise<Server> {
  const core = composeCore(config, logger);
  const { db, keyDigest } = core;
  const now = () => new Date();
  const keyUsage = createKeyUsage({ db, logger, everySeconds: 5 });
  const app = await createApp({
    config,
    logger,
    handlers: { ...agentHandlers({ db }), ...keyHandlers({ db, keyDigest, now }) },
    authenticate: createAuthenticate({ db, keyDigest, keyUsage, now }),
    readiness: { database: databaseCheck(db) },
  });
  return {
    core,
    app,
    shutdownSteps: [
      { name: "stop accepting and drain requests", limitSeconds: 30, run: () => app.close() },
      { name: "write when keys were last used", limitSeconds: 5, run: keyUsage.stop },
      { name: "close the database pool", limitSeconds: 5, run: db.close },
    ],
  };
}
