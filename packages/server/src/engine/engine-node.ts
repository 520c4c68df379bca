import { createIngress, type Exchange, type Post } from "./ingress.ts";

/**
 * One node of the engine, and whether it is silent: it accepts connections and does not answer. A call lasts as long as its run,
 * so its own duration says nothing. While calls wait and nothing else is heard from the node, it is probed. A node that misses
 * probes loses its calls: each fails, and its caller joins the run at another node. After two probes these are the calls since
 * which it answered nothing; after four, if another node answers, all others too.
 */
export interface EngineNode {
  readonly url: string;
  /** It did not answer lately. It is probed until it does; until then, others are asked first. */
  readonly isAvoided: () => boolean;
  /** When it last answered anything, on the clock of `performance.now()`. */
  readonly lastAnswerMs: () => number;
  /** Fails after `limitMs` at the latest. */
  readonly post: (request: Post, limitMs: number) => Exchange["response"];
  /** Finds out whether it answers, unless it just did. */
  readonly check: () => void;
  readonly close: () => Promise<void>;
}

interface NodeOptions {
  readonly url: string;
  /** A probe was missed: time to look at the other nodes too. */
  readonly onMissed: () => void;
  /** Whether another node has answered lately. */
  readonly hasAlternative: () => boolean;
  readonly onSilent: () => void;
  readonly onRecovered: () => void;
}

/** Calls of runs that end within this time cost nothing beside themselves. */
const quietMs = 500;
const probeLimitMs = 1000;
/** One missed probe may be due to a busy machine. */
const missesUntilSilent = 2;
/** A call that the node has probably taken loses nothing by waiting a little longer, and moving it is work for a busy engine. */
const missesUntilMoved = 4;
const reprobeDelayMs = 100;
const maxReprobeDelayMs = 2000;
/** After so long, a node that answers again may have forgotten its connections: their calls would wait in vain. */
const staleConnectionMs = 10_000;

const noAnswer = () => new Error("The engine's node did not answer in time");

/** Aborts after this time, unless the answer has arrived in the meantime: timers run before input is read. */
async function withLimit({ response, abort }: Exchange, limitMs: number): Exchange["response"] {
  let isOver = false;
  const abortUnlessOver = () => {
    if (!isOver) abort(noAnswer());
  };
  const timer = setTimeout(() => setImmediate(abortUnlessOver), limitMs);
  try {
    return await response;
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

interface WaitingCall {
  readonly startedMs: number;
  readonly abort: Exchange["abort"];
}

export function createEngineNode(options: NodeOptions): EngineNode {
  const { url, onMissed, hasAlternative, onSilent, onRecovered } = options;
  const ingress = createIngress(url);
  /** Oldest first. */
  const calls = new Set<WaitingCall>();
  let lastAnswerMs = Number.NEGATIVE_INFINITY;
  let isAvoided = false;
  let misses = 0;
  let isProbing = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const abortCalls = (mayStay: (call: WaitingCall) => boolean): void => {
    for (const call of calls) if (!mayStay(call)) call.abort(new Error("The engine's node is silent"));
  };

  const noteAnswer = (): void => {
    const nowMs = performance.now();
    if (misses >= missesUntilSilent) {
      onRecovered();
      if (nowMs - lastAnswerMs > staleConnectionMs)
        abortCalls(({ startedMs }) => nowMs - startedMs < staleConnectionMs);
    }
    lastAnswerMs = nowMs;
    misses = 0;
    isAvoided = false;
  };

  const noteMiss = (): void => {
    misses += 1;
    isAvoided = true;
    onMissed();
    if (misses === missesUntilSilent) onSilent();
    if (misses < missesUntilSilent) return;
    const mayMove = misses >= missesUntilMoved && hasAlternative();
    abortCalls(({ startedMs }) => startedMs < lastAnswerMs && !mayMove);
  };

  const probe = async (): Promise<void> => {
    isProbing = true;
    try {
      await withLimit(ingress.probe(), probeLimitMs);
      noteAnswer();
    } catch {
      if (!isClosed) noteMiss();
    } finally {
      isProbing = false;
      schedule();
    }
  };

  const look = (): void => {
    timer = undefined;
    if (isProbing || isClosed) return;
    const [oldest] = calls;
    const quietSinceMs = Math.max(oldest?.startedMs ?? Number.POSITIVE_INFINITY, lastAnswerMs);
    // Timers may fire a little early.
    if (isAvoided || performance.now() - quietSinceMs > quietMs - 10) void probe();
    else schedule();
  };

  /** Sets the one timer of this node, if there is something to look for. */
  const schedule = (): void => {
    if (timer || isProbing || isClosed || !(isAvoided || calls.size > 0)) return;
    const reprobeMs = Math.min(reprobeDelayMs * 2 ** Math.max(misses - 1, 0), maxReprobeDelayMs);
    timer = setTimeout(look, isAvoided ? reprobeMs : quietMs).unref();
  };

  const check = (): void => {
    if (isProbing || isClosed || misses > 0 || performance.now() - lastAnswerMs < quietMs) return;
    void probe();
  };

  const post: EngineNode["post"] = async (request, limitMs) => {
    const exchange = ingress.post(request);
    const call = { startedMs: performance.now(), abort: exchange.abort };
    if (request.verb === "call") {
      calls.add(call);
      schedule();
    }
    try {
      const response = await withLimit(exchange, limitMs);
      noteAnswer();
      return response;
    } catch (error) {
      const endedMs = performance.now() - call.startedMs;
      // A call may last longer than its client waits. Everything else should have been answered.
      if (request.verb === "send" || endedMs < limitMs - 10) {
        isAvoided = true;
        check();
        schedule();
      }
      throw error;
    } finally {
      calls.delete(call);
    }
  };

  return {
    url,
    isAvoided: () => isAvoided,
    lastAnswerMs: () => lastAnswerMs,
    post,
    check,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await ingress.close();
    },
  };
}
