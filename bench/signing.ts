import { buildKeyDirectory } from "../packages/server/src/outbound/signing/key-directory.ts";
import { createSignedFetch } from "../packages/server/src/outbound/signing/signed-fetch.ts";
import { createKeyPair } from "../packages/server/src/platform/signing-key.ts";
import type { Figures } from "./comparison.ts";
import { median } from "./load.ts";

const calls = 3000;

/** CPU time of this process for each call, in microseconds: the median of ten rounds. */
async function measure(call: () => unknown): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const before = process.cpuUsage();
    for (let i = 0; i < calls / 10; i += 1) await call();
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / (calls / 10));
  }
  return Math.round(median(rounds));
}

/** What it costs to sign a call, beside a fetch that sends nothing. */
export async function signing(): Promise<Figures> {
  const key = { ...createKeyPair(), signsFromMs: 0, retiresAtMs: null };
  const answer = Promise.resolve(new Response());
  const unsigned: typeof fetch = () => answer;
  const directoryUrl = "https://perch.example/.well-known/http-message-signatures-directory";
  const signed = createSignedFetch({ fetch: unsigned, signingKey: () => key, directoryUrl, now: Date.now });
  const figures: Record<string, number> = {};
  for (const kib of [0, 1, 64]) {
    const init = { method: "POST", headers: { "x-request-id": "req_1" }, body: "x".repeat(kib * 1024) };
    await measure(() => signed("https://tools.example/call", init));
    figures[`cpu_us_per_call_${kib}_kib`] = await measure(() => signed("https://tools.example/call", init));
  }
  figures.cpu_us_per_directory = await measure(() => buildKeyDirectory([key, key], "https://perch.example", 0));
  return figures;
}
