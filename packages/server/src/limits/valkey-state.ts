import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "iovalkey";
import type { Logger } from "../platform/logger.ts";

/**
 * Whether Valkey answers this process, for everything that works without it in the meantime; and the time on its clock.
 */
export interface ValkeyState {
  /** False while Valkey is not connected or is known not to answer: then no caller waits for it. */
  readonly isUp: () => boolean;
  /** Resolves when Valkey answers for the first time, or after a second without. */
  readonly ready: () => Promise<void>;
  /** How often Valkey has come back. */
  readonly recoveries: () => number;
  readonly onRecovered: (listener: () => void) => void;
  /** A call was answered, at this time on Valkey's clock. */
  readonly answered: (valkeyMs: number) => void;
  /** A call failed. Until a probe is answered, Valkey counts as down. */
  readonly failed: (error: unknown) => void;
  /**
   * A call that is sent now and executed later than this time on Valkey's clock was given up long ago. Valkey's clock is taken as this
   * process last saw it. 0 before the first answer.
   */
  readonly deadlineMs: () => number;
  readonly close: () => void;
}

const firstAnswerMs = 1000;
const probeEveryMs = 250;
/** Each recovery voids the caches, so a Valkey that is slow again and again recovers no more often than this. */
const minRecoveryMs = 1000;
const clockWindowMs = 10_000;

/**
 * Replies take a while, so the largest difference between both clocks is the best one. It is taken of the last 10 to 20 seconds,
 * because a clock may be set back, or be another machine's after a failover.
 */
function createClock(nowMs: () => number) {
  let [before, current, since] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, nowMs()];
  return {
    answered: (valkeyMs: number): void => {
      const now = nowMs();
      if (now - since > 2 * clockWindowMs) current = Number.NEGATIVE_INFINITY;
      if (now - since > clockWindowMs) [before, current, since] = [current, Number.NEGATIVE_INFINITY, now];
      current = Math.max(current, valkeyMs - now);
    },
    valkeyNowMs: (): number => Math.max(before, current) + nowMs(),
  };
}

/** Writes, because a Valkey that is full or read-only answers everything else. */
const probeScript = "redis.call('SET', 'perch:probe', '', 'PX', 1000) return redis.call('TIME')";

/** Calls are given up after `timeoutMs`, and have as long again until their deadline. */
export function createValkeyState(valkey: Redis, timeoutMs: number, logger: Logger): ValkeyState {
  const clock = createClock(() => performance.now());
  const listeners: (() => void)[] = [];
  let state: "starting" | "up" | "down" | "closed" = "starting";
  let recoveries = 0;
  let isProbing = false;
  let recoveredAtMs = Number.NEGATIVE_INFINITY;
  const { promise: firstAnswer, resolve: answerFirst } = Promise.withResolvers<void>();

  const markUp = (): void => {
    const before = state;
    if (before === "closed" || before === "up") return;
    state = "up";
    answerFirst();
    if (before === "down") {
      recoveries += 1;
      recoveredAtMs = performance.now();
      logger.info("Valkey available again, limits are shared");
    }
    for (const listener of listeners) listener();
  };

  /**
   * The connection executes commands in order, so commands that were given up have been executed when a probe is
   * answered.
   */
  const probe = async (delayMs: number): Promise<void> => {
    if (isProbing) return;
    isProbing = true;
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false });
    while (state === "starting" || state === "down") {
      try {
        const [seconds, micros] = (await valkey.eval(probeScript, 0)) as [string, string];
        clock.answered(Number(seconds) * 1000 + Number(micros) / 1000);
        markUp();
      } catch {
        await sleep(probeEveryMs, undefined, { ref: false });
      }
    }
    isProbing = false;
  };

  const markDown = (error: unknown): void => {
    if (state === "closed") return;
    if (state !== "down") logger.warn({ err: error }, "Valkey unavailable, limits are per process");
    state = "down";
    void probe(Math.max(probeEveryMs, recoveredAtMs + minRecoveryMs - performance.now()));
  };

  valkey.on("ready", () => void probe(0));
  valkey.on("close", () => markDown(new Error("not connected")));

  return {
    isUp: () => state === "up",
    ready: () => Promise.race([firstAnswer, sleep(firstAnswerMs, undefined, { ref: false })]),
    recoveries: () => recoveries,
    onRecovered: (listener) => void listeners.push(listener),
    answered: clock.answered,
    failed: markDown,
    deadlineMs: () => Math.max(0, Math.ceil(clock.valkeyNowMs() + 2 * timeoutMs)),
    close: () => {
      state = "closed";
    },
  };
}
