import { APICallError, type EmbeddingModelV4 } from "@ai-sdk/provider";
import { type Embedder, toUnitVector } from "./embedder.ts";
import { createIdleTimeout } from "./idle-timeout.ts";
import { PermanentModelError, TransientModelError } from "./model.ts";
import { toModelError } from "./provider-error.ts";
import {
  createIdleTimeoutFetch,
  createProvider,
  type ProviderModelOptions,
  type ProviderSettings,
  validateSettings,
} from "./provider-model.ts";

/** Texts in one request. An OpenAI-compatible server may be anything; 32 is the default limit of the common ones. */
const maxTexts = { openai: 2048, google: 100, "openai-compatible": 32 };
/** OpenAI takes 300,000 tokens in one request, and no token is shorter than a byte. */
const maxBytes = 300_000;
/** To parse and check so many takes some 25 ms, in which nothing else is done. */
const maxNumbers = 200_000;
/** In an answer, beside the numbers that were asked for. */
const otherValues = 10_000;

/**
 * In order, each small enough for one request. A text that is too large by itself is sent in its own request, and the
 * provider decides.
 */
function splitIntoBatches(texts: readonly string[], maxBatchSize: number): string[][] {
  const batches: string[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    const batch = batches.at(-1);
    if (batch && batch.length < maxBatchSize && bytes + size <= maxBytes) {
      batch.push(text);
      bytes += size;
    } else {
      batches.push([text]);
      bytes = size;
    }
  }
  return batches;
}

/** Models whose vectors have one size only refuse to be asked for a size, even for that one. */
const refusesDimensions = (error: unknown): boolean =>
  APICallError.isInstance(error) &&
  (error.statusCode === 400 || error.statusCode === 422) &&
  /dimension|matryoshka/i.test(error.responseBody ?? "");

/** An embedder behind a provider's API. It does not retry: the caller does. */
export function createProviderEmbedder(
  settings: ProviderSettings,
  modelName: string,
  { dimensions, fetch, idleTimeoutMs }: ProviderModelOptions & { readonly dimensions: number },
): Embedder {
  const { name, type } = settings;
  const subject = `${name}/${modelName}`;
  let sendsDimensions = true;

  const requestEmbeddings = async (model: EmbeddingModelV4, values: string[], abortSignal: AbortSignal) => {
    if (sendsDimensions) {
      try {
        return await model.doEmbed({ values, dimensions, abortSignal });
      } catch (error) {
        if (!refusesDimensions(error)) throw error;
        sendsDimensions = false;
      }
    }
    return model.doEmbed({ values, abortSignal });
  };

  const embedBatch = async (values: string[], signal: AbortSignal) => {
    signal.throwIfAborted();
    const idle = createIdleTimeout(subject, idleTimeoutMs, signal);
    try {
      // A model whose vectors have one size may answer larger ones than were asked for, and is told so.
      const maxValues = Math.max(maxNumbers, values.length * dimensions) + otherValues;
      const idleFetch = createIdleTimeoutFetch(fetch, subject, idle, maxValues);
      const model = createProvider(settings, idleFetch).embeddingModel(modelName);
      const { embeddings } = await Promise.race([requestEmbeddings(model, values, idle.signal), idle.ended]);
      if (embeddings.length !== values.length)
        throw new TransientModelError(`${subject} answered ${embeddings.length} vectors for ${values.length} texts.`);
      return embeddings.map((vector) => toUnitVector(vector, dimensions, subject));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toModelError(error, { provider: name, model: modelName, apiKey: settings.apiKey });
    } finally {
      idle.stop();
    }
  };

  return {
    dimensions,
    embed: async (texts, signal) => {
      if (type === "anthropic")
        throw new PermanentModelError(
          `${name} is of type anthropic, which has no embeddings: choose another memory.embedder.`,
        );
      validateSettings(settings, modelName);
      const vectors: (readonly number[])[] = [];
      const maxBatchSize = Math.max(1, Math.min(maxTexts[type], Math.floor(maxNumbers / dimensions)));
      for (const batch of splitIntoBatches(texts, maxBatchSize)) vectors.push(...(await embedBatch(batch, signal)));
      return vectors;
    },
  };
}
