import type { QuotaName, Tier } from "@perch/contract";
import type { Config } from "../config/config.ts";
import { createDataKeys, type DataKeys } from "../db/data-keys.ts";
import { type Database, divideConnections, openDatabase } from "../db/database.ts";
import { createSigningKeys, type SigningKeys } from "../db/signing-keys.ts";
import { createOnceAMinute } from "../fairness/once-a-minute.ts";
import { createShares, type ShareName, type Shares } from "../fairness/shares.ts";
import { createTakeCall } from "../limits/call-rates.ts";
import type { Gate } from "../limits/gate.ts";
import { createLocalGate } from "../limits/local-gate.ts";
import { readValkeyMemory } from "../limits/probe-valkey.ts";
import { createResilientGate } from "../limits/resilient-gate.ts";
import { createLocalSlots, type RunSlots } from "../limits/run-slots.ts";
import { createSharedSlots } from "../limits/shared-slots.ts";
import { connectValkey, createValkeyGate } from "../limits/valkey-gate.ts";
import { createValkeyState } from "../limits/valkey-state.ts";
import { createGuardedClient, createTrustedClient, type GuardedClient } from "../outbound/guarded-client.ts";
import { limitCalls } from "../outbound/limit-calls.ts";
import { createOAuthClient } from "../outbound/oauth/create-oauth-client.ts";
import type { OAuthClient } from "../outbound/oauth/oauth-client.ts";
import { createOwnAddresses, type ListeningAddresses } from "../outbound/own-addresses.ts";
import type { FindSecrets } from "../outbound/secrets/find-secrets.ts";
import { type CreateRedactor, createRedactors } from "../outbound/secrets/redactor.ts";
import { createResolveCall, type ResolveCall } from "../outbound/secrets/resolve-call.ts";
import type { Logger } from "../platform/logger.ts";
import type { ShutdownStep } from "../platform/shutdown.ts";
import { version } from "../platform/version.ts";
import { createDefinitions, type Definitions } from "../resources/deployments/definitions.ts";
import {
  createLocalLogNotifications,
  createValkeyLogNotifications,
  type LogNotifications,
} from "../resources/logs/log-notifications.ts";
import { createQuotas, type Quotas } from "../resources/quotas/quotas.ts";
import { createKnownBytes } from "../resources/quotas/stored-bytes.ts";
import { createFindSecrets } from "../resources/secrets/find-stored-secrets.ts";
import { findTier } from "../runs/record/running-run-queries.ts";
import { createLocalStreams } from "../streams/local-streams.ts";
import type { RunStreams } from "../streams/run-streams.ts";
import { createValkeyStreams } from "../streams/valkey-streams.ts";
import { connectSubscriber, createSubscriptions } from "../streams/valkey-subscriptions.ts";
import { createTracing } from "../telemetry/otlp-tracing.ts";
import { createTelemetry, type Limit, measuredOperations, type Telemetry } from "../telemetry/telemetry.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { composeDependencies } from "./dependencies.ts";
import type { DependencyWatch } from "./dependency-watch.ts";
import { composeMemory, type Memory } from "./memory.ts";
import { ownEndpoints } from "./own-endpoints.ts";
import {
  addMetrics,
  createKeyUses,
  dataKeyPurposes,
  type KeyUses,
  quotaDefinitions,
  type ResourceMetrics,
} from "./resources.ts";

/** The state that processes share through Valkey, or its in-process forms. */
interface SharedState {
  readonly gate: Gate;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
  readonly logNotifications: LogNotifications;
  /** Bytes that Valkey uses; null if it does not report them. Undefined if this process has no Valkey. */
  readonly readValkeyMemory: (() => Promise<number | null>) | undefined;
}

/** How others are called. */
interface Outbound {
  /** `guarded` is for addresses that organisations configure, `trusted` for those of the operator. */
  readonly guarded: GuardedClient;
  readonly trusted: GuardedClient;
  /** `guarded` at the rate of the acting organisation: for tools, MCP servers, remote agents and authorization servers. */
  readonly countedFetch: typeof globalThis.fetch;
  /** The addresses that tenants must not reach: those configured, and those that this process listens on. */
  readonly ownAddresses: ListeningAddresses;
  readonly findSecrets: FindSecrets;
  /** Puts secrets into a call. */
  readonly resolveCall: ResolveCall;
  readonly createRedactor: CreateRedactor;
  /** For the accounts that tools are called with. */
  readonly oauth: OAuthClient;
  /** Must be loaded before a call is signed, after the data keys. */
  readonly signingKeys: SigningKeys;
}

export interface Core {
  readonly config: Config;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly telemetry: Telemetry & ResourceMetrics;
  readonly tracing: Tracing;
  readonly db: Database;
  /** The parts of this process's resources that one organisation may use. */
  readonly shares: Shares;
  readonly quotas: Quotas;
  /** Parts that this process can do without for a while: the engine and Valkey. */
  readonly dependencies: DependencyWatch;
  readonly shared: SharedState;
  /** Must be loaded before any of `keys` is used. */
  readonly dataKeys: DataKeys;
  /** Sealers, digests and keys of the resources. */
  readonly keys: KeyUses;
  readonly outbound: Outbound;
  readonly memory: Memory;
  readonly definitions: Definitions;
}

/** The dependencies that functions ask for by name. */
export const depsOf = ({ shared, keys, outbound, memory, shares, ...core }: Core) => ({
  ...shares.of,
  ...core,
  ...shared,
  ...keys,
  ...outbound,
  ...memory,
  cacheBytes: shares.cacheBytes,
});

const wallClock = () => Date.now();

/** Always counts, even if the metrics port is off, so that the same code runs either way. */
function composeTelemetry({ providers }: Config): Core["telemetry"] {
  const names = providers.map(({ name }) => name);
  const telemetry = createTelemetry({ version, operations: measuredOperations, providers: names });
  return { ...telemetry, ...addMetrics(telemetry) };
}

/** Names an organisation that was refused something, at most once a minute: it may be refused a thousand times in that time. */
function createRefusalLog(logger: Logger, nowMs: () => number, kind: "share" | "quota" | "limit", message: string) {
  const isDue = createOnceAMinute(nowMs);
  return (name: ShareName | QuotaName | Limit, organisationId: string): void => {
    if (isDue(`${name} ${organisationId}`)) logger.warn({ [kind]: name, organisationId }, message);
  };
}

/** The database. Each organisation has a share of its connections. */
function composeDatabase(config: Config, logger: Logger, telemetry: Telemetry, nowMs: () => number) {
  const connections = config.databaseMaxConnections;
  const logRefusal = createRefusalLog(logger, nowMs, "share", "an organisation holds its share, more is refused");
  const shares = createShares({
    onRefused: (share, organisationId) => {
      telemetry.shareRefused(share);
      logRefusal(share, organisationId);
    },
    databaseConnections: divideConnections(connections).organisations,
  });
  const { statementMs } = shares;
  const db = openDatabase({
    url: config.databaseUrl,
    connections,
    share: shares.of.databaseTransactions,
    statementMs,
    logger,
  });
  telemetry.watchShares(shares.of);
  telemetry.watchPools(db.pools);
  telemetry.watchDependency("database", db.ping);
  return { shares, db };
}

function composeQuotas(db: Database, logger: Logger, telemetry: Telemetry, nowMs: () => number): Quotas {
  const logRefusal = createRefusalLog(logger, nowMs, "quota", "an organisation has used up a quota, more is refused");
  const definitions = quotaDefinitions;
  return createQuotas({
    definitions,
    knownBytes: createKnownBytes({ db, definitions, logger, now: nowMs }),
    onRefused: (quota, organisationId) => {
      telemetry.quotaRefused(quota);
      logRefusal(quota, organisationId);
    },
  });
}

/**
 * The state that processes share through Valkey, or its in-process forms. All of it shares this process's view of
 * Valkey.
 */
function composeShared(
  config: Config,
  telemetry: Telemetry,
  logger: Logger,
  nowMs: () => number,
): { readonly valkey: ReturnType<typeof connectValkey> | undefined; readonly shared: SharedState } {
  const localGate = createLocalGate(nowMs);
  const localSlots = createLocalSlots(nowMs);
  const { valkeyUrl, valkeyTimeoutMs } = config;
  if (!valkeyUrl)
    return {
      valkey: undefined,
      shared: {
        gate: localGate,
        slots: localSlots,
        streams: createLocalStreams(nowMs),
        logNotifications: createLocalLogNotifications(),
        readValkeyMemory: undefined,
      },
    };
  const valkey = connectValkey(valkeyUrl, valkeyTimeoutMs, logger);
  const state = createValkeyState(valkey, valkeyTimeoutMs, logger);
  const subscriptions = createSubscriptions(connectSubscriber(valkey, logger));
  const { deadlineMs } = state;
  const onDropped = telemetry.streamDropped;
  return {
    valkey,
    shared: {
      gate: createResilientGate({ shared: createValkeyGate(valkey, state), local: localGate, state }),
      slots: createSharedSlots({ connection: valkey, state, local: localSlots, logger, now: nowMs }),
      streams: createValkeyStreams({ valkey, subscriptions, deadlineMs, logger, now: nowMs, onDropped }),
      logNotifications: createValkeyLogNotifications(valkey, subscriptions, logger),
      readValkeyMemory: () => readValkeyMemory(valkey),
    },
  };
}

type OutboundParts = Pick<Core, "config" | "logger" | "nowMs" | "telemetry" | "db" | "shares" | "shared" | "keys">;

/** A worker that has seen no run of the organisation, as when it checks a deployment, reads the tier. */
const composeTierOf =
  ({ db, shares: { tiers } }: Pick<Core, "db" | "shares">) =>
  async (organisationId: string): Promise<Tier> => {
    const known = tiers.find(organisationId);
    if (known) return known;
    try {
      const tier = await db.inOrganisation(organisationId, (trx) => findTier(trx, organisationId));
      tiers.remember(organisationId, tier);
      return tier;
    } catch {
      // The database is busy or away. A call must not fail because of that, nor get a rate that is not its organisation's.
      return "free";
    }
  };

function composeCountedFetch(guarded: GuardedClient, parts: OutboundParts): typeof globalThis.fetch {
  const { logger, nowMs, telemetry, shared } = parts;
  const logRefusal = createRefusalLog(logger, nowMs, "limit", "an organisation makes too many calls, more are refused");
  const onRefused = (limit: Limit, organisationId: string): void => {
    telemetry.requestRefused(limit);
    logRefusal(limit, organisationId);
  };
  return limitCalls(guarded.fetch, createTakeCall({ gate: shared.gate, tierOf: composeTierOf(parts), onRefused }));
}

function composeOutbound(parts: OutboundParts): Outbound {
  const { config, logger, nowMs, telemetry, db, shares, keys } = parts;
  const share = shares.of.outboundCalls;
  const ownAddresses = createOwnAddresses(ownEndpoints(config));
  const guarded = createGuardedClient({
    allowedRanges: config.outboundAllowedPrivateRanges,
    own: ownAddresses,
    share,
  });
  const countedFetch = composeCountedFetch(guarded, parts);
  const findSecrets = createFindSecrets({ db, sealer: keys.secrets, logger, now: nowMs });
  const { processorTime } = shares.of;
  const createRedactor = createRedactors({
    processorTime,
    onWorked: telemetry.worked,
  });
  const resolveCall = createResolveCall({ findSecrets, createRedactor, onRefused: telemetry.secretRefused });
  const { publicUrl } = config;
  const oauth = createOAuthClient({ fetch: countedFetch, resolveCall, publicUrl, now: nowMs, version });
  const signingKeys = createSigningKeys({ db: db.unscoped, sealer: keys.signingKeySealer, logger, now: nowMs });
  telemetry.watchSigningKeys(signingKeys.ageSeconds);
  return {
    guarded,
    trusted: createTrustedClient({ share }),
    countedFetch,
    ownAddresses,
    findSecrets,
    resolveCall,
    createRedactor,
    oauth,
    signingKeys,
  };
}

/** The needs of every command and role: the database, and Valkey or its in-process replacement. */
export function composeCore(config: Config, logger: Logger, nowMs = wallClock): Core {
  const telemetry = composeTelemetry(config);
  const { valkey, shared } = composeShared(config, telemetry, logger, nowMs);
  const { shares, db } = composeDatabase(config, logger, telemetry, nowMs);
  if (valkey) telemetry.watchDependency("valkey", () => valkey.ping());
  const masterKeys = { current: config.masterKey, previous: config.previousMasterKeys };
  const dataKeys = createDataKeys(db.unscoped, masterKeys, dataKeyPurposes);
  const keys = createKeyUses(dataKeys.keyFor);
  const outbound = composeOutbound({ config, logger, nowMs, telemetry, db, shares, shared, keys });
  return {
    config,
    logger,
    nowMs,
    telemetry,
    tracing: createTracing({ url: config.otlpUrl, version, logger }),
    db,
    shares,
    quotas: composeQuotas(db, logger, telemetry, nowMs),
    dependencies: composeDependencies({ config, logger, nowMs, pingValkey: valkey && (() => valkey.ping()) }),
    shared,
    dataKeys,
    keys,
    outbound,
    memory: composeMemory({ ...keys, ...outbound, config, db, logger, nowMs, embeddings: shares.of.embeddings }),
    definitions: createDefinitions({ db, cacheBytes: shares.cacheBytes, logger, now: nowMs }),
  };
}

export const closeCore = async ({ db, shared, tracing, outbound }: Core): Promise<void> => {
  const { gate, slots, streams, logNotifications } = shared;
  const { guarded, trusted, signingKeys } = outbound;
  signingKeys.stop();
  await tracing.close();
  await streams.close();
  logNotifications.close();
  await slots.close();
  await gate.close();
  await Promise.all([guarded.close(), trusted.close()]);
  await db.close();
};

/** The last shutdown step of every role. */
export const closeCoreStep = (core: Core): ShutdownStep => ({
  name: "close Valkey, outbound connections and the database pool",
  limitSeconds: 5,
  run: () => closeCore(core),
});
