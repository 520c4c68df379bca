import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "iovalkey";
import type { Logger } from "../platform/logger.ts";
import type { Gate, Passage } from "./gate.ts";
import { type Answer, type Question, script, toArguments, toPassages } from "./gate-script.ts";

const epochSeconds = 86_400;

type Scripted = Redis & { passGate: (keys: number, ...args: (string | number)[]) => Promise<Answer> };

export interface ValkeyGate extends Gate {
  readonly isConnected: () => boolean;
}

interface Waiting extends Question {
  readonly resolve: (passage: Passage) => void;
  readonly reject: (error: unknown) => void;
}

/** All requests of one turn of the event loop ask in one call: a busy node makes far fewer calls than it has requests. */
const mostInOneCall = 128;

export function connectValkey(url: string, logger: Logger): Redis {
  const valkey = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 250,
    connectTimeout: 1000,
    retryStrategy: (attempt) => Math.min(attempt * 50, 1000),
  });
  valkey.on("error", (error) => logger.debug({ err: error }, "valkey"));
  return valkey;
}

export function createValkeyGate(connection: Redis): ValkeyGate {
  const valkey = connection as Scripted;
  const connected = Promise.race([once(valkey, "ready"), sleep(1000, undefined, { ref: false })]).then(
    () => undefined,
    () => undefined,
  );
  valkey.defineCommand("passGate", { lua: script });
  const process = randomBytes(8).toString("base64url");
  let made = 0;
  const newEpoch = () => `${process}${(++made).toString(36)}`;
  let waiting: Waiting[] = [];

  const ask = async (questions: readonly Waiting[]): Promise<void> => {
    try {
      const { keys, rest } = toArguments(questions, newEpoch());
      const passages = toPassages(await valkey.passGate(keys.length, ...keys, ...rest), questions);
      for (const [i, { resolve, reject }] of questions.entries()) {
        const passage = passages[i];
        if (passage) resolve(passage);
        else reject(new Error("Valkey's answer is too short"));
      }
    } catch (error) {
      for (const { reject } of questions) reject(error);
    }
  };

  const askAll = (): void => {
    const questions = waiting;
    waiting = [];
    for (let i = 0; i < questions.length; i += mostInOneCall) void ask(questions.slice(i, i + mostInOneCall));
  };

  return {
    isConnected: () => valkey.status === "ready",
    ready: () => connected,
    pass: (owner, buckets) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(askAll);
        waiting.push({ owner, buckets, resolve, reject });
      }),
    replaceEpoch: async (organisationId) => {
      await valkey.set(`perch:epoch:${organisationId}`, newEpoch(), "EX", epochSeconds);
    },
    close: async () => valkey.disconnect(),
  };
}
