import { randomBytes } from "node:crypto";
import { Redis } from "iovalkey";
import { batchPerTurn } from "../fairness/batch-per-turn.ts";
import type { Logger } from "../platform/logger.ts";
import type { Gate, GateDecision } from "./gate.ts";
import { type GateRequest, type ScriptReply, script, toArguments, toDecisions } from "./gate-script.ts";
import type { ValkeyState } from "./valkey-state.ts";

const epochSeconds = 86_400;

type Scripted = Redis & { passGate: (keys: number, ...args: (string | number)[]) => Promise<ScriptReply> };

export interface ValkeyGate extends Gate {
  readonly isConnected: () => boolean;
}

export function connectValkey(url: string, timeoutMs: number, logger: Logger): Redis {
  const valkey = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    connectTimeout: 1000,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1000),
  });
  valkey.on("error", (error) => logger.debug({ err: error }, "Valkey connection error"));
  return valkey;
}

export function createValkeyGate(connection: Redis, state: ValkeyState): ValkeyGate {
  const valkey = connection as Scripted;
  valkey.defineCommand("passGate", { lua: script });
  const processId = randomBytes(8).toString("base64url");
  let epochCount = 0;
  const newEpoch = () => `${processId}${(++epochCount).toString(36)}`;
  const pass = batchPerTurn(async (requests: readonly GateRequest[]): Promise<GateDecision[]> => {
    const { keys, args } = toArguments(requests, newEpoch());
    const reply = await valkey.passGate(keys.length, ...keys, ...args);
    state.answered(Number(reply[0]) / 1000);
    // Changes made while Valkey was down did not reach its epochs, so each recovery invalidates older cached values.
    return toDecisions(reply, requests, `${state.recoveries()} `);
  });

  return {
    isConnected: () => valkey.status === "ready",
    ready: state.ready,
    pass: (owner, buckets) => pass({ owner, buckets }),
    replaceEpoch: async (organisationId) => {
      await valkey.set(`perch:epoch:${organisationId}`, newEpoch(), "EX", epochSeconds);
    },
    close: async () => {
      state.close();
      valkey.disconnect();
    },
  };
}
