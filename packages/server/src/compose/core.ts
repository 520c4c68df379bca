import type { Config } from "../config.ts";
import { type Database, openDatabase } from "../db/database.ts";
import type { Gate } from "../gate/gate.ts";
import { createLocalGate } from "../gate/local-gate.ts";
import { createResilientGate } from "../gate/resilient-gate.ts";
import { createLocalSlots, createSharedSlots, type RunSlots } from "../gate/run-slots.ts";
import { connectValkey, createValkeyGate } from "../gate/valkey-gate.ts";
import type { Logger } from "../platform/logger.ts";
import { createDigest, createSealer, type Digest, type Sealer } from "../platform/secrets.ts";
import type { ShutdownStep } from "../platform/shutdown.ts";
import { createLocalStreams } from "../streams/local-streams.ts";
import type { RunStreams } from "../streams/run-streams.ts";
import { createValkeyStreams } from "../streams/valkey-streams.ts";
import { connectSubscriber } from "../streams/valkey-subscriptions.ts";

export interface Core {
  readonly config: Config;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly db: Database;
  readonly gate: Gate;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
  readonly keyDigest: Digest;
  readonly providerKeys: Sealer;
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
    streams: valkey
      ? createValkeyStreams({ valkey, subscriber: connectSubscriber(valkey, logger), logger, now: nowMs })
      : createLocalStreams(nowMs),
    keyDigest: createDigest(config.masterKey, "api key digest"),
    providerKeys: createSealer(config.masterKey, "model providers"),
  };
}

export const closeCore = async ({ db, gate, streams }: Core): Promise<void> => {
  await streams.close();
  await gate.close();
  await db.close();
};

/** Last of all, whatever the role. */
export const closeCoreStep = (core: Core): ShutdownStep => ({
  name: "close Valkey and the database pool",
  limitSeconds: 5,
  run: () => closeCore(core),
});
