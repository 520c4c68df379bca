import { APICallError, type EmbeddingModelV4 } from "@ai-sdk/provider";
import { type Embedder, toUnitVector } from "./embedder.ts";
import { PassingModelError, PermanentModelError } from "./model.ts";
import { toModelError } from "./provider-failure.ts";
import {
  createProvider,
  createWatchedFetch,
  type ProviderModelOptions,
  type ProviderSettings,
  refuseSettings,
} from "./provider-model.ts";
import { watchSilence } from "./silence-watch.ts";

/** Texts in one request. What speaks like OpenAI may be anything; 32 is what the common servers take unless told otherwise. */
const mostTexts = { openai: 2048, google: 100, "openai-compatible": 32 };
/** OpenAI takes 300,000 tokens in one request, and no token is shorter than a byte. */
const mostBytes = 300_000;
/** A number in JSON is rarely longer than 24 characters, and answers are read to 16 MiB. */
const mostNumbers = (16 * 1024 * 1024) / 24;

/** In order, each small enough for one request. A text that is too large by itself goes alone: the provider says what it thinks. */
function batchesOf(texts: readonly string[], most: number): string[][] {
  const batches: string[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    const batch = batches.at(-1);
    if (batch && batch.length < most && bytes + size <= mostBytes) {
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

/** An embedder behind a provider's API. Who calls it decides about retries. */
export function createProviderEmbedder(
  settings: ProviderSettings,
  modelName: string,
  { dimensions, fetch, silenceMs }: ProviderModelOptions & { readonly dimensions: number },
): Embedder {
  const { name, type } = settings;
  const subject = `${name}/${modelName}`;
  let takesDimensions = true;

  const ask = async (model: EmbeddingModelV4, values: string[], abortSignal: AbortSignal) => {
    if (takesDimensions) {
      try {
        return await model.doEmbed({ values, dimensions, abortSignal });
      } catch (error) {
        if (!refusesDimensions(error)) throw error;
        takesDimensions = false;
      }
    }
    return model.doEmbed({ values, abortSignal });
  };

  const embedBatch = async (values: string[], signal: AbortSignal) => {
    signal.throwIfAborted();
    const watch = watchSilence(subject, silenceMs, signal);
    try {
      const model = createProvider(settings, createWatchedFetch(fetch, subject, watch)).embeddingModel(modelName);
      const { embeddings } = await Promise.race([ask(model, values, watch.signal), watch.ended]);
      if (embeddings.length !== values.length)
        throw new PassingModelError(`${subject} answered ${embeddings.length} vectors for ${values.length} texts.`);
      return embeddings.map((vector) => toUnitVector(vector, dimensions, subject));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toModelError(error, { provider: name, model: modelName, apiKey: settings.apiKey });
    } finally {
      watch.stop();
    }
  };

  return {
    dimensions,
    embed: async (texts, signal) => {
      if (type === "anthropic")
        throw new PermanentModelError(
          `${name} is of type anthropic, which has no embeddings: choose another memory.embedder.`,
        );
      refuseSettings(settings, modelName);
      const vectors: (readonly number[])[] = [];
      const most = Math.max(1, Math.min(mostTexts[type], Math.floor(mostNumbers / dimensions)));
      for (const batch of batchesOf(texts, most)) vectors.push(...(await embedBatch(batch, signal)));
      return vectors;
    },
  };
}
