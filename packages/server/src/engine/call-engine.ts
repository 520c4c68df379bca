import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";
import { createEngineNode, type EngineNode } from "./engine-node.ts";
import type { Post, Verb } from "./ingress.ts";

/** A call to the engine. The id makes it idempotent. */
export interface Task {
  readonly id: string;
  readonly verb: Verb;
  readonly path: string;
  readonly body: unknown;
}

/**
 * `timeout`: the time is over. `unreachable`: no node has answered anything for some seconds. A call that the engine may have
 * taken before goes on until its time is over.
 */
type Failure = "timeout" | "unreachable" | "refused";

type CallResult =
  | { readonly text: string }
  | { readonly text: undefined; readonly failure: Failure; readonly cause: unknown };

interface CallOptions {
  readonly timeoutMs: number;
  /** When this work began, if the call is not the first part of it: the time without any answer counts from then. */
  readonly sinceMs?: number | undefined;
}

interface EngineNodes {
  /** Calls node after node until one answers with 2xx. Repeating is safe: the task's id is its idempotency key. */
  readonly callUntilAnswered: (task: Task, options: CallOptions) => Promise<CallResult>;
  readonly close: () => Promise<void>;
}

interface NodesOptions {
  readonly urls: readonly string[];
  readonly logger: Logger;
  /** Called each time a node fails to answer with 2xx. */
  readonly onFailure: () => void;
}

/** Below the five seconds after which the answer to a client is that the engine cannot be reached. */
const maxMsWithoutAnswer = 3500;
const unknownServiceGraceMs = 5000;
/** How long one attempt at a hand-over may take. It doubles when all nodes were asked: they may be busy. */
const sendLimitMs = 1000;
/** A call at a node that did not answer lately is tried elsewhere after this time. */
const doubtfulCallLimitMs = 2000;
/** Longer than the pauses between the probes of a silent node, which make the others answer too. */
const recentMs = 4000;
const minRetryDelayMs = 50;
const maxRetryDelayMs = 1000;
/** There is always time for one attempt. */
const minAttemptMs = 500;
/** Timers may fire this much too early. */
const earlyMs = 2;

/** A call under way, over all of its attempts. */
interface CallState {
  readonly task: Task;
  readonly request: Post;
  readonly startedMs: number;
  readonly sinceMs: number;
  readonly deadlineMs: number;
  /** A node that took the call answered something afterwards. */
  isMaybeTaken: boolean;
  isRefused: boolean;
  cause: unknown;
}

function beginCall(task: Task, { timeoutMs, sinceMs }: CallOptions): CallState {
  const startedMs = performance.now();
  const { verb, path, id: idempotencyKey } = task;
  return {
    task,
    request: { verb, path, idempotencyKey, body: JSON.stringify(task.body) },
    startedMs,
    sinceMs: sinceMs ?? startedMs,
    deadlineMs: startedMs + timeoutMs,
    isMaybeTaken: false,
    isRefused: false,
    cause: undefined,
  };
}

/** The nodes of the engine. The one that answered last is asked first. */
export function createEngineNodes({ urls, logger, onFailure }: NodesOptions): EngineNodes {
  const nodes: EngineNode[] = urls.map((url, i) =>
    createEngineNode({
      url,
      onMissed: () => {
        for (const node of nodes) node.check();
      },
      hasAlternative: () =>
        nodes.some((node) => !node.isAvoided() && performance.now() - node.lastAnswerMs() < recentMs),
      onSilent: () => logger.warn({ node: i + 1, url }, "engine node does not answer, others are called"),
      onRecovered: () => logger.info({ node: i + 1, url }, "engine node answers again"),
    }),
  );
  let preferred = 0;

  const lastAnswerMs = (): number => Math.max(...nodes.map((node) => node.lastAnswerMs()));

  /** Each attempt begins at another node, and takes the next one that is not avoided. */
  const chooseNode = (attempt: number): { readonly node: EngineNode; readonly index: number } => {
    const order = nodes.map((_, i) => (preferred + attempt + i) % nodes.length);
    const index = order.find((i) => !nodes[i]?.isAvoided()) ?? order[0] ?? 0;
    const node = nodes[index];
    if (!node) throw new Error("The engine has no ingress URL");
    return { node, index };
  };

  const attemptLimitMs = ({ verb }: Task, node: EngineNode, attempt: number): number => {
    if (verb === "send") return sendLimitMs * 2 ** Math.floor(attempt / nodes.length);
    return node.isAvoided() ? doubtfulCallLimitMs : Number.POSITIVE_INFINITY;
  };

  /** Returns the answer, or undefined if the node gave none with 2xx. */
  const callNode = async (call: CallState, node: EngineNode, attempt: number): Promise<string | undefined> => {
    const nowMs = performance.now();
    const untilMs = node.isAvoided() ? Math.max(giveUpMs(call), nowMs + minAttemptMs) : call.deadlineMs;
    const limitMs = Math.min(attemptLimitMs(call.task, node, attempt), Math.min(untilMs, call.deadlineMs) - nowMs);
    try {
      const { status, text } = await node.post(call.request, limitMs);
      if (status >= 200 && status < 300) return text;
      call.cause = new Error(`The engine answers ${status}: ${text.slice(0, 300)}`);
      // The engine does not know our services yet: a worker may be about to register, so retry for a while.
      call.isRefused = status >= 400 && status < 500 && performance.now() - call.startedMs > unknownServiceGraceMs;
    } catch (error) {
      call.cause = error;
      call.isMaybeTaken ||= call.task.verb === "call" && node.lastAnswerMs() > nowMs;
    }
    // A call lasts as long as its run, so it is normal that its time passes.
    if (call.task.verb === "send" || performance.now() < call.deadlineMs - earlyMs) onFailure();
    return undefined;
  };

  /** The time after which another try is useless. */
  const giveUpMs = ({ isMaybeTaken, deadlineMs, sinceMs }: CallState): number =>
    isMaybeTaken ? deadlineMs : Math.min(deadlineMs, Math.max(sinceMs, lastAnswerMs()) + maxMsWithoutAnswer);

  const failureOf = (call: CallState): Failure | undefined => {
    const nowMs = performance.now();
    if (call.isRefused) return "refused";
    if (nowMs > call.deadlineMs - earlyMs) return "timeout";
    return nowMs > giveUpMs(call) - earlyMs ? "unreachable" : undefined;
  };

  return {
    callUntilAnswered: async (task, options) => {
      const call = beginCall(task, options);
      for (let attempt = 0; ; attempt++) {
        const { node, index } = chooseNode(attempt);
        const text = await callNode(call, node, attempt);
        if (text !== undefined) {
          if (attempt > 0) preferred = index;
          return { text };
        }
        const failure = failureOf(call);
        if (failure) return { text, failure, cause: call.cause };
        logger.debug({ err: call.cause, base: node.url, attempt: attempt + 1 }, "engine call failed, will retry");
        const delayMs = Math.min(minRetryDelayMs * 2 ** attempt, maxRetryDelayMs);
        await sleep(Math.max(Math.min(delayMs, giveUpMs(call) - performance.now()), 1));
      }
    },
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
}
