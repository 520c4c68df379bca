import { createHash } from "node:crypto";
import type { ProviderCall } from "./model-server.ts";

/** A request for vectors, whatever the provider calls its fields. */
export interface EmbeddingCall {
  readonly texts: readonly string[];
  /** Undefined means the model's own. */
  readonly dimensions: number | undefined;
}

/** Texts with words in common have similar vectors. They are not of unit length. */
export function hashedVector(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  // No text, not even an empty one, has a vector of zeros.
  vector[0] = 0.01;
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const digest = createHash("sha256").update(word).digest();
    const at = digest.readUInt32BE(0) % dimensions;
    vector[at] = (vector[at] ?? 0) + (digest.readUInt8(4) % 2 === 0 ? 1 : -1);
  }
  return vector;
}

const vectorsFor = ({ texts, dimensions }: EmbeddingCall, own: number, given?: readonly (readonly number[])[]) =>
  given ?? texts.map((text) => hashedVector(text, dimensions ?? own));

type GivenVectors = readonly (readonly number[])[] | undefined;

/** OpenAI: `POST /v1/embeddings`. Null for another call. */
export function openAiEmbeddings({ path, body }: ProviderCall, given: GivenVectors): object | null {
  if (path !== "/v1/embeddings") return null;
  const { input, dimensions, model } = body as { input: string[]; dimensions?: number; model: string };
  const data = vectorsFor({ texts: input, dimensions }, 1536, given).map((embedding, index) => ({
    object: "embedding",
    index,
    embedding,
  }));
  return { object: "list", data, model, usage: { prompt_tokens: 8 * input.length, total_tokens: 8 * input.length } };
}

interface GoogleContent {
  readonly content: { readonly parts: readonly { readonly text: string }[] };
  readonly outputDimensionality?: number;
}

/** Gemini: `POST /v1beta/models/{model}:embedContent` for one text, `:batchEmbedContents` for several. */
export function googleEmbeddings({ path, body }: ProviderCall, given: GivenVectors): object | null {
  const method = path.match(/^\/v1beta\/models\/[^/:]+:(embedContent|batchEmbedContents)$/)?.[1];
  if (!method) return null;
  const requests = (method === "embedContent" ? [body] : body.requests) as readonly GoogleContent[];
  const texts = requests.map(({ content }) => content.parts.map(({ text }) => text).join(" "));
  const vectors = vectorsFor({ texts, dimensions: requests[0]?.outputDimensionality }, 3072, given);
  const embeddings = vectors.map((values) => ({ values }));
  return method === "embedContent" ? { embedding: embeddings[0] } : { embeddings };
}
