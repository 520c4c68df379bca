import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { localEmbedder } from "@perch/contract";
import { type Embedder, toUnitVector } from "./embedder.ts";
import { PermanentModelError, TransientModelError } from "./model.ts";

/** Of all-MiniLM-L6-v2, here quantised to 8 bits. */
const dimensions = 384;
const files = ["model.onnx", "tokenizer.json", "tokenizer_config.json"];
const installHint = "Run `node scripts/local-embedder/main.ts`, or choose another memory.embedder.";

export interface ThreadData {
  readonly folder: string;
}
export interface EmbedRequest {
  readonly id: number;
  readonly text: string;
}
export type EmbedResponse =
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

interface EmbedderThread {
  readonly embed: (text: string) => Promise<Float32Array>;
  readonly isDead: () => boolean;
}

/** Why the thread ended. A missing package or one for another platform is permanent. */
function toThreadError(error: unknown): Error {
  const { code, message } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: "" };
  const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND" || code === "ERR_DLOPEN_FAILED";
  if (isMissing || /protobuf|onnxruntime|model\.onnx|tokenizer/i.test(message))
    return new PermanentModelError(
      `${localEmbedder} cannot be loaded here (${code ?? "its weights are broken"}). ${installHint}`,
    );
  return new TransientModelError(`${localEmbedder} ended unexpectedly${code ? ` (${code})` : ""}.`);
}

function startThread(folder: string): EmbedderThread {
  const data: ThreadData = { folder };
  const thread = new Worker(new URL("./local-embedder-thread.ts", import.meta.url), { workerData: data });
  const pending = new Map<number, PromiseWithResolvers<Float32Array>>();
  let lastId = 0;
  let failure: Error | undefined;
  const fail = (error: unknown) => {
    failure ??= toThreadError(error);
    for (const { reject } of pending.values()) reject(failure);
    pending.clear();
  };
  // Only a pending request keeps the process alive.
  thread.unref();
  thread.on("error", fail);
  thread.on("exit", () => fail(undefined));
  thread.on("message", (response: EmbedResponse) => {
    const promise = pending.get(response.id);
    pending.delete(response.id);
    if (pending.size === 0) thread.unref();
    if ("vector" in response) promise?.resolve(response.vector);
    else promise?.reject(new TransientModelError(`${localEmbedder} failed: ${response.error}`));
  });
  return {
    isDead: () => failure !== undefined,
    embed: (text) => {
      const promise = Promise.withResolvers<Float32Array>();
      const request: EmbedRequest = { id: ++lastId, text };
      pending.set(request.id, promise);
      thread.ref();
      thread.postMessage(request);
      return promise.promise;
    },
  };
}

/**
 * An embedder on this machine, without a provider. The first use loads it, some 130 MB: make one for the process.
 * Texts go through one by one: the quantised model scales by the largest value of the whole batch, so a text would get
 * another vector in another batch. A batch would save a third of the time of short texts, and cost time with long ones.
 */
export function createLocalEmbedder(folder: string): Embedder {
  let thread: EmbedderThread | undefined;

  const ensureThread = (): EmbedderThread => {
    if (thread && !thread.isDead()) return thread;
    if (!hasWeights(folder))
      throw new PermanentModelError(`The weights of ${localEmbedder} are not on this server. ${installHint}`);
    if (!hasRuntime())
      throw new PermanentModelError(`${localEmbedder} needs the package onnxruntime-node. ${installHint}`);
    thread = startThread(folder);
    return thread;
  };

  return {
    dimensions,
    embed: async (texts, signal) => {
      const vectors: (readonly number[])[] = [];
      // One text at a time: callers take turns, and an aborted one wastes one text at most.
      for (const text of texts) {
        signal.throwIfAborted();
        const aborted = Promise.withResolvers<never>();
        const onAbort = () => aborted.reject(signal.reason);
        signal.addEventListener("abort", onAbort, { once: true });
        try {
          const vector = await Promise.race([ensureThread().embed(text), aborted.promise]);
          vectors.push(toUnitVector(vector, dimensions, localEmbedder));
        } finally {
          signal.removeEventListener("abort", onAbort);
        }
      }
      return vectors;
    },
  };
}
