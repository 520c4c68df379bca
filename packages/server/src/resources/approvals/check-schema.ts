import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { ErrorDetail } from "@perch/contract";
import type { Share } from "../../fairness/shares.ts";
import { ApiError, invalid } from "../../platform/api-error.ts";

export interface CheckRequest {
  /** JSON texts: the thread parses them, so that the main thread does not copy large values. */
  readonly schema: string;
  readonly value: string;
}

export type CheckResponse =
  | "ready"
  /** Paths are JSON pointers. Empty: the value fits. */
  | { readonly failures: readonly { readonly path: string; readonly error: string }[] }
  | { readonly unusable: string };

/** The limit of processor time. A check takes a few milliseconds, and only a malicious schema takes longer. */
const maxMs = 50;
/** In real time: a check waits while other work has the processor. */
const maxWaitMs = 5000;
const maxSchemaLength = 256 * 1024;
const maxValueLength = 256 * 1024;
/** Loading takes some 100 ms; a machine that stands still needs longer. */
const maxStartMs = 10_000;

const memory = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

type Answer = Exclude<CheckResponse, "ready"> | "too slow" | "ended";

interface CheckThread {
  readonly check: (request: CheckRequest) => Promise<Answer>;
  readonly stop: () => Promise<unknown>;
}

function startThread(onEnd: () => void): CheckThread {
  const thread = new Worker(new URL("./check-schema-thread.ts", import.meta.url), {
    resourceLimits: memory,
    env: {},
  });
  thread.unref();
  let isOver = false;
  const ended = Promise.withResolvers<"ended">();
  const end = () => {
    isOver = true;
    onEnd();
    ended.resolve("ended");
  };
  // Out of memory, among others.
  thread.on("error", end);
  thread.on("exit", end);
  const nextMessage = () => new Promise<CheckResponse>((resolve) => thread.once("message", resolve));
  /** A thread that computes cannot be asked to stop, only ended. */
  const within = async <T>(ms: number, answer: Promise<T>): Promise<T | "too slow" | "ended"> => {
    const limit = Promise.withResolvers<"too slow">();
    const timer = setTimeout(() => limit.resolve("too slow"), ms);
    const first = await Promise.race([answer, limit.promise, ended.promise]);
    clearTimeout(timer);
    if (first === "too slow") {
      end();
      await thread.terminate();
    }
    return first;
  };
  const ready = within(maxStartMs, nextMessage());

  /** Resolves when the thread has used up its time. A check that is quick is not measured. */
  const untilUsedUp = async (answered: AbortSignal): Promise<"used up"> => {
    const wait = () => sleep(maxMs, undefined, { signal: answered, ref: false });
    await wait();
    const before = await thread.cpuUsage();
    for (;;) {
      await wait();
      const { user, system } = await thread.cpuUsage(before);
      if ((user + system) / 1000 >= maxMs) return "used up";
    }
  };
  return {
    check: async (request) => {
      const started = await ready;
      if (isOver || started !== "ready") return "ended";
      const answer = nextMessage();
      thread.ref();
      thread.postMessage(request);
      const answered = new AbortController();
      // A thread that has ended, or has answered, has no time left to measure.
      const usedUp = untilUsedUp(answered.signal).catch(() => new Promise<never>(() => undefined));
      const given = await within(maxWaitMs, Promise.race([answer, usedUp]));
      answered.abort();
      thread.unref();
      if (given !== "used up") return given === "ready" ? "ended" : given;
      end();
      await thread.terminate();
      return "too slow";
    },
    stop: () => thread.terminate(),
  };
}

export interface CheckSchema {
  /** Throws a 400 that names each problem, under `field`. */
  readonly check: (organisationId: string, schema: object, value: unknown, field: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const tooSlow = (field: string) =>
  invalid(
    field,
    `The schema takes longer than ${maxMs} ms to check, so nothing can be checked against it. Simplify it in the agent's definition or the tool's server`,
  );

/** `/order/0/total` under `arguments` is `arguments.order.0.total`. */
const fieldOf = (field: string, path: string): string =>
  [field, ...path.split("/").slice(1)].map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");

function refuse(field: string, answer: Answer): void {
  if (answer === "too slow" || answer === "ended") throw tooSlow(field);
  if ("unusable" in answer)
    throw invalid(field, `The schema cannot be used, so nothing can be checked against it: ${answer.unusable}`);
  if (answer.failures.length === 0) return;
  const details: ErrorDetail[] = answer.failures.map(({ path, error }) => ({ field: fieldOf(field, path), error }));
  throw new ApiError("invalid_request", "Validation failed", { details });
}

/**
 * Checks texts of persons against schemas that organisations, and servers that they use, wrote. It does so in a thread,
 * which is ended when it takes too long, because a malicious schema can make a check take hours. There is one thread,
 * created when it is first needed.
 */
export function createCheckSchema({ schemaChecks }: { readonly schemaChecks: Pick<Share, "hold"> }): CheckSchema {
  let thread: CheckThread | undefined;
  let previous: Promise<unknown> = Promise.resolve();

  const checkInThread = (request: CheckRequest): Promise<Answer> => {
    if (!thread) {
      const started = startThread(() => {
        if (thread === started) thread = undefined;
      });
      thread = started;
    }
    return thread.check(request);
  };

  /** One after the other: the time of one must not count for the next. */
  const inTurn = (request: CheckRequest): Promise<Answer> => {
    const answer = previous.then(() => checkInThread(request));
    previous = answer.catch(() => undefined);
    return answer;
  };

  return {
    check: async (organisationId, schema, value, field) => {
      const request = { schema: JSON.stringify(schema), value: JSON.stringify(value) };
      if (request.value.length > maxValueLength)
        throw invalid(field, `Expected at most ${maxValueLength} characters of JSON`);
      if (request.schema.length > maxSchemaLength)
        throw invalid(
          field,
          `The schema is longer than ${maxSchemaLength} characters, so nothing can be checked against it`,
        );
      refuse(field, await schemaChecks.hold(organisationId, () => inTurn(request)));
    },
    stop: async () => void (await thread?.stop()),
  };
}
