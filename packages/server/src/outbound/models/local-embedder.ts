import { Worker } from "node:worker_threads";
import { localEmbedder } from "@perch/contract";
import { type Embedder, toUnitVector } from "./embedder.ts";
import { hasRuntime, runtimePackage } from "./embedder-runtime.ts";
import { hasWeightFiles } from "./embedder-weights.ts";
import { createEmbeddingQueue, type EmbedUse } from "./embedding-queue.ts";
import { PermanentModelError, TransientModelError } from "./model.ts";

/** The dimensions of all-MiniLM-L6-v2, here quantised to 8 bits. */
const dimensions = 384;
const otherEmbedder = "or choose another memory.embedder.";
const installHint = `Run \`perch embedder install\` (on a server, \`perch-server install-embedder\`), ${otherEmbedder}`;

export interface ThreadData {
  readonly folder: string;
}
export interface EmbedRequest {
  readonly text: string;
}
export type EmbedResponse = { readonly vector: Float32Array } | { readonly error: string };

interface EmbedderThread {
  readonly embed: (text: string, signal: AbortSignal, use: EmbedUse) => Promise<Float32Array>;
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

/** It has to know the organisation, because all organisations share it. */
export interface LocalEmbedder extends Pick<Embedder, "dimensions"> {
  readonly embedFor: (use: EmbedUse, ...embed: Parameters<Embedder["embed"]>) => ReturnType<Embedder["embed"]>;
}

interface QueuedText {
  readonly text: string;
  readonly vector: PromiseWithResolvers<Float32Array>;
}

/** The thread has one text at a time. The others wait here, so that they can be removed or overtaken. */
function startThread(folder: string): EmbedderThread {
  const data: ThreadData = { folder };
  // The runtime reports its use to its makers unless the process disables it. A thread has only a copy of the
  // environment.
  process.env.ORT_DISABLE_TELEMETRY = "1";
  const thread = new Worker(new URL("./local-embedder-thread.ts", import.meta.url), { workerData: data });
  const queue = createEmbeddingQueue<QueuedText>();
  let underWay: QueuedText | undefined;
  let failure: Error | undefined;
  const sendNext = () => {
    underWay = queue.next();
    // Only a pending request keeps the process alive.
    if (!underWay) return thread.unref();
    const request: EmbedRequest = { text: underWay.text };
    thread.ref();
    thread.postMessage(request);
  };
  const fail = (error: unknown) => {
    failure ??= toThreadError(error);
    for (; underWay; underWay = queue.next()) underWay.vector.reject(failure);
  };
  thread.unref();
  thread.on("error", fail);
  thread.on("exit", () => fail(undefined));
  thread.on("message", (response: EmbedResponse) => {
    if ("vector" in response) underWay?.vector.resolve(response.vector);
    else underWay?.vector.reject(new TransientModelError(`${localEmbedder} failed: ${response.error}`));
    sendNext();
  });
  return {
    isDead: () => failure !== undefined,
    embed: async (text, signal, use) => {
      signal.throwIfAborted();
      const queued: QueuedText = { text, vector: Promise.withResolvers() };
      const leave = queue.add(queued, use);
      const onAbort = () => {
        leave();
        queued.vector.reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      if (!underWay) sendNext();
      try {
        return await queued.vector.promise;
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}

/**
 * An embedder on this machine, without a provider. The first use loads it, some 130 MB: make one for the process.
 * Texts go through one by one: the quantised model scales by the largest value of the whole batch, so a text would get
 * another vector in another batch. A batch would save a third of the time of short texts, and cost time with long ones.
 */
export function createLocalEmbedder(folder: string): LocalEmbedder {
  let thread: EmbedderThread | undefined;

  const ensureThread = (): EmbedderThread => {
    if (thread && !thread.isDead()) return thread;
    if (!hasWeightFiles(folder))
      throw new PermanentModelError(`The weights of ${localEmbedder} are not on this server. ${installHint}`);
    if (!hasRuntime())
      throw new PermanentModelError(
        `${localEmbedder} needs a package. Run \`npm install ${runtimePackage()}\` where the server is installed, ${otherEmbedder}`,
      );
    thread = startThread(folder);
    return thread;
  };

  return {
    dimensions,
    embedFor: async (use, texts, signal) => {
      const vectors: (readonly number[])[] = [];
      // One text at a time: a batch takes turns with the texts of others, and an aborted one wastes one text at most.
      for (const text of texts)
        vectors.push(toUnitVector(await ensureThread().embed(text, signal, use), dimensions, localEmbedder));
      return vectors;
    },
  };
}
