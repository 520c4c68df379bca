import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { localEmbedder } from "@perch/contract";
import { type Embedder, toUnitVector } from "./embedder.ts";
import { PassingModelError, PermanentModelError } from "./model.ts";

/** Of all-MiniLM-L6-v2, here quantised to 8 bits. */
const dimensions = 384;
const files = ["model.onnx", "tokenizer.json", "tokenizer_config.json"];
const mend = "Run `node scripts/local-embedder/main.ts`, or choose another memory.embedder.";

export interface ThreadData {
  readonly folder: string;
}
export interface EmbedQuestion {
  readonly id: number;
  readonly text: string;
}
export type EmbedAnswer =
  | { readonly id: number; readonly vector: Float32Array }
  | { readonly id: number; readonly error: string };

function hasRuntime(): boolean {
  try {
    return createRequire(import.meta.url).resolve("onnxruntime-node") !== "";
  } catch {
    return false;
  }
}

const hasWeights = (folder: string) => files.every((name) => existsSync(join(folder, name)));

/** Whether `perch/minilm` can be used: its weights and its runtime are both optional. */
export const isLocalEmbedderPresent = (folder: string): boolean => hasWeights(folder) && hasRuntime();

interface EmbedderThread {
  readonly ask: (text: string) => Promise<Float32Array>;
  readonly isDead: () => boolean;
}

/** Why the thread ended. What is not installed, or not for this machine, does not mend itself. */
function endOfThread(error: unknown): Error {
  const { code, message } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: "" };
  const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND" || code === "ERR_DLOPEN_FAILED";
  if (isMissing || /protobuf|onnxruntime|model\.onnx|tokenizer/i.test(message))
    return new PermanentModelError(
      `${localEmbedder} cannot be loaded here (${code ?? "its weights are broken"}). ${mend}`,
    );
  return new PassingModelError(`${localEmbedder} ended unexpectedly${code ? ` (${code})` : ""}.`);
}

function startThread(folder: string): EmbedderThread {
  const data: ThreadData = { folder };
  const thread = new Worker(new URL("./local-embedder-thread.ts", import.meta.url), { workerData: data });
  const waiting = new Map<number, PromiseWithResolvers<Float32Array>>();
  let last = 0;
  let failure: Error | undefined;
  const fail = (error: unknown) => {
    failure ??= endOfThread(error);
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  };
  // Only work that somebody waits for keeps the process alive.
  thread.unref();
  thread.on("error", fail);
  thread.on("exit", () => fail(undefined));
  thread.on("message", (answer: EmbedAnswer) => {
    const promise = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) thread.unref();
    if ("vector" in answer) promise?.resolve(answer.vector);
    else promise?.reject(new PassingModelError(`${localEmbedder} failed: ${answer.error}`));
  });
  return {
    isDead: () => failure !== undefined,
    ask: (text) => {
      const promise = Promise.withResolvers<Float32Array>();
      const question: EmbedQuestion = { id: ++last, text };
      waiting.set(question.id, promise);
      thread.ref();
      thread.postMessage(question);
      return promise.promise;
    },
  };
}

/**
 * An embedder on this machine, without a provider. The first use loads it, some 130 MB: make one for the process.
 * Texts go through one by one: the quantised model scales by the largest value of the whole batch, so a text would get
 * another vector in other company. A batch would save a third of the time of short texts, and cost time with long ones.
 */
export function createLocalEmbedder(folder: string): Embedder {
  let thread: EmbedderThread | undefined;

  const running = (): EmbedderThread => {
    if (!hasWeights(folder))
      throw new PermanentModelError(`The weights of ${localEmbedder} are not on this server. ${mend}`);
    if (!hasRuntime()) throw new PermanentModelError(`${localEmbedder} needs the package onnxruntime-node. ${mend}`);
    if (!thread || thread.isDead()) thread = startThread(folder);
    return thread;
  };

  return {
    dimensions,
    embed: async (texts, signal) => {
      const vectors: (readonly number[])[] = [];
      // The next text only after the answer: callers take turns, and one who left costs one text at most.
      for (const text of texts) {
        signal.throwIfAborted();
        const aborted = Promise.withResolvers<never>();
        const onAbort = () => aborted.reject(signal.reason);
        signal.addEventListener("abort", onAbort, { once: true });
        try {
          const vector = await Promise.race([running().ask(text), aborted.promise]);
          vectors.push(toUnitVector(vector, dimensions, localEmbedder));
        } finally {
          signal.removeEventListener("abort", onAbort);
        }
      }
      return vectors;
    },
  };
}
