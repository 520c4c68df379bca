import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "iovalkey";
import type { Logger } from "../platform/logger.ts";
import type { Gate, GateDecision } from "./gate.ts";
import { type GateRequest, type ScriptReply, script, toArguments, toDecisions } from "./gate-script.ts";

const epochSeconds = 86_400;

type Scripted = Redis & { passGate: (keys: number, ...args: (string | number)[]) => Promise<ScriptReply> };

export interface ValkeyGate extends Gate {
  readonly isConnected: () => boolean;
}

interface PendingRequest extends GateRequest {
  readonly resolve: (decision: GateDecision) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests of one event-loop turn are sent in one call, so a busy node makes far fewer calls than it gets requests. */
const maxBatchSize = 128;

export function connectValkey(url: string, logger: Logger): Redis {
  const valkey = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 250,
    connectTimeout: 1000,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1000),
  });
  valkey.on("error", (error) => logger.debug({ err: error }, "Valkey connection error"));
  return valkey;
}

export function createValkeyGate(connection: Redis): ValkeyGate {
  const valkey = connection as Scripted;
  const connected = Promise.race([once(valkey, "ready"), sleep(1000, undefined, { ref: false })]).then(
    () => undefined,
    () => undefined,
  );
  valkey.defineCommand("passGate", { lua: script });
  const processId = randomBytes(8).toString("base64url");
  let epochCount = 0;
  const newEpoch = () => `${processId}${(++epochCount).toString(36)}`;
  let pending: PendingRequest[] = [];

  const sendBatch = async (requests: readonly PendingRequest[]): Promise<void> => {
    try {
      const { keys, args } = toArguments(requests, newEpoch());
      const decisions = toDecisions(await valkey.passGate(keys.length, ...keys, ...args), requests);
      for (const [i, { resolve, reject }] of requests.entries()) {
        const decision = decisions[i];
        if (decision) resolve(decision);
        else reject(new Error("Valkey's reply is too short"));
      }
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
  };

  const flush = (): void => {
    const requests = pending;
    pending = [];
    for (let i = 0; i < requests.length; i += maxBatchSize) void sendBatch(requests.slice(i, i + maxBatchSize));
  };

  return {
    isConnected: () => valkey.status === "ready",
    ready: () => connected,
    pass: (owner, buckets) =>
      new Promise((resolve, reject) => {
        if (pending.length === 0) setImmediate(flush);
        pending.push({ owner, buckets, resolve, reject });
      }),
    replaceEpoch: async (organisationId) => {
      await valkey.set(`perch:epoch:${organisationId}`, newEpoch(), "EX", epochSeconds);
    },
    close: async () => valkey.disconnect(),
  };
}
