import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { GiveBack, Share } from "./shares.ts";

/** Loading takes some 100 ms; a machine that stands still needs longer. */
const maxStartMs = 10_000;
/** In real time: work waits while other work has the processor. */
const maxWaitMs = 5000;

/** What a thread does, as its metric calls it. */
export type WorkKind = "redaction" | "schema_check" | "comparison";

export type WorkMeter = (kind: WorkKind, ms: number) => void;

/** The thread ended instead of an answer: because it took too long, or for another reason, such as its memory. */
export type NoAnswer = "too slow" | "ended";

interface WorkThreadOptions {
  /** A module that calls `serveWork`. */
  readonly url: URL;
  readonly processorTime: Pick<Share, "acquire">;
  readonly onWorked: (ms: number) => void;
  /** The limit of processor time of one request; without it, requests are small enough to need none. */
  readonly maxMs?: number;
}

export interface WorkThread<Request, Response> {
  /** Waits for the organisation's turn; throws a `ShareRefusal` when that takes too long. */
  readonly ask: (organisationId: string, request: Request) => Promise<Response | NoAnswer>;
}

interface RunningThread<Request, Response> {
  readonly ask: (request: Request) => Promise<Response | NoAnswer>;
}

/**
 * A thread without work for this long ends, and gives its memory back; it does not keep a process from ending. Longer than any
 * answer of another server, of which a thread may know the beginning.
 */
const maxIdleMs = 16 * 60 * 1000;

const memory = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

function startThread<Request, Response>(
  { url, maxMs }: Pick<WorkThreadOptions, "url" | "maxMs">,
  onEnd: () => void,
): RunningThread<Request, Response> {
  const thread = new Worker(url, { resourceLimits: memory, env: {} });
  thread.unref();
  let isOver = false;
  const ended = Promise.withResolvers<"ended">();
  const end = () => {
    isOver = true;
    clearTimeout(idle);
    onEnd();
    ended.resolve("ended");
  };
  // Out of memory, among others.
  thread.on("error", end);
  thread.on("exit", end);
  const idle = setTimeout(() => void thread.terminate(), maxIdleMs).unref();
  const nextMessage = <T>() => new Promise<T>((resolve) => thread.once("message", resolve));
  /** A thread that computes cannot be asked to stop, only ended. */
  const terminate = async (): Promise<"too slow"> => {
    end();
    await thread.terminate();
    return "too slow";
  };
  const within = async <T>(ms: number, answer: Promise<T>): Promise<T | NoAnswer> => {
    const limit = Promise.withResolvers<"too slow">();
    const timer = setTimeout(() => limit.resolve("too slow"), ms);
    const first = await Promise.race([answer, limit.promise, ended.promise]);
    clearTimeout(timer);
    return first === "too slow" ? terminate() : first;
  };
  const ready = within(maxStartMs, nextMessage<"ready">());

  /** Resolves when the thread has used up its time. A request that is quick is not measured. */
  const untilUsedUp = async (ms: number, answered: AbortSignal): Promise<"used up"> => {
    const wait = () => sleep(ms, undefined, { signal: answered, ref: false });
    await wait();
    const before = await thread.cpuUsage();
    for (;;) {
      await wait();
      const { user, system } = await thread.cpuUsage(before);
      if ((user + system) / 1000 >= ms) return "used up";
    }
  };
  return {
    ask: async (request) => {
      if ((await ready) !== "ready" || isOver) return "ended";
      const answer = nextMessage<Response>();
      idle.refresh();
      thread.ref();
      thread.postMessage(request);
      const answered = new AbortController();
      // A thread that has ended, or has answered, has no time left to measure.
      const never = new Promise<never>(() => undefined);
      const usedUp = maxMs === undefined ? never : untilUsedUp(maxMs, answered.signal).catch(() => never);
      const given = await within(maxWaitMs, Promise.race([answer, usedUp]));
      answered.abort();
      thread.unref();
      return given === "used up" ? terminate() : given;
    },
  };
}

/**
 * A thread for work whose cost an organisation chooses, started when it is first needed. It does one piece of work after the
 * other, and each counts as processor time of its organisation, which then rests: so an organisation that asks without
 * pause leaves most of the time to others, and the event loop does none of it.
 */
export function createWorkThread<Request, Response>({
  url,
  processorTime,
  onWorked,
  maxMs,
}: WorkThreadOptions): WorkThread<Request, Response> {
  let thread: RunningThread<Request, Response> | undefined;
  let previous: Promise<unknown> = Promise.resolve();

  const askThread = (request: Request): Promise<Response | NoAnswer> => {
    if (!thread) {
      const started = startThread<Request, Response>({ url, ...(maxMs !== undefined && { maxMs }) }, () => {
        if (thread === started) thread = undefined;
      });
      thread = started;
    }
    return thread.ask(request);
  };

  /** One after the other: the time of one must not count for the next. */
  const inTurn = (request: Request, giveBack: GiveBack): Promise<Response | NoAnswer> => {
    const answer = previous.then(async () => {
      const startedMs = performance.now();
      try {
        return await askThread(request);
      } finally {
        const ms = performance.now() - startedMs;
        onWorked(ms);
        giveBack(ms);
      }
    });
    previous = answer.catch(() => undefined);
    return answer;
  };

  return { ask: async (organisationId, request) => inTurn(request, await processorTime.acquire(organisationId)) };
}
