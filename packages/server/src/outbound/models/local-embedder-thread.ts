/**
 * The thread behind `local-embedder.ts`: it holds the tokenizer and the weights, and answers one text at a time. A thread,
 * because the runtime computes where it is called: on the main thread each text would stop every request for that long.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { Tokenizer } from "@huggingface/tokenizers";
import { InferenceSession, Tensor } from "onnxruntime-node";
import type { EmbedRequest, EmbedResponse, ThreadData } from "./local-embedder.ts";

/** The length that the model was trained on. */
const maxTokens = 256;
/** Far more than 256 tokens of prose, so that the tokenizer does not read all of a long text. */
const maxCharacters = 8000;

const { folder } = workerData as ThreadData;
const readJson = (name: string): object => JSON.parse(readFileSync(join(folder, name), "utf8"));

const tokenizer = new Tokenizer(readJson("tokenizer.json"), readJson("tokenizer_config.json"));
const separator = tokenizer.token_to_id("[SEP]") ?? 102;
// One thread: a second one saves a third of the time and spins on the core that the server itself wants.
const session = await InferenceSession.create(join(folder, "model.onnx"), {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: "sequential",
});

function tokenize(text: string): number[] {
  const { ids } = tokenizer.encode(text.slice(0, maxCharacters));
  return ids.length > maxTokens ? [...ids.slice(0, maxTokens - 1), separator] : ids;
}

/** The mean of the tokens' vectors. */
async function embed(text: string): Promise<Float32Array> {
  const ids = tokenize(text);
  const row = (values: readonly number[]) =>
    new Tensor(
      "int64",
      BigInt64Array.from(values, (value) => BigInt(value)),
      [1, values.length],
    );
  const output = await session.run({
    input_ids: row(ids),
    attention_mask: row(ids.map(() => 1)),
    token_type_ids: row(ids.map(() => 0)),
  });
  const hidden = output.last_hidden_state?.data as Float32Array;
  const dimensions = hidden.length / ids.length;
  const mean = new Float32Array(dimensions);
  for (let at = 0; at < hidden.length; at++) mean[at % dimensions] = (mean[at % dimensions] ?? 0) + (hidden[at] ?? 0);
  return mean.map((sum) => sum / ids.length);
}

async function handleRequest({ text }: EmbedRequest): Promise<EmbedResponse> {
  try {
    return { vector: await embed(text) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.on("message", (request: EmbedRequest) => {
  void handleRequest(request).then((response) => parentPort?.postMessage(response));
});
