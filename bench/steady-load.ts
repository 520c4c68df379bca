import { setTimeout as sleep } from "node:timers/promises";
import type { PostTarget } from "./load.ts";

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

/**
 * Sends requests at a steady rate until `isOver`, whether the ones before have been answered or not, and returns the milliseconds
 * that each took. Throws if one was not answered with 2xx.
 */
export async function sendSteadily(target: PostTarget, perSecond: number, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  const sent: Promise<void>[] = [];
  const send = async (i: number): Promise<void> => {
    const startedAt = performance.now();
    const response = await fetch(target.url, {
      method: "POST",
      headers: { ...target.headers[i % target.headers.length], "content-type": "application/json" },
      body: typeof target.body === "string" ? target.body : target.body(),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${target.url}: ${response.status} ${text}`);
    times.push(performance.now() - startedAt);
  };
  const startedAt = performance.now();
  for (let i = 0; !isOver(); i++) {
    sent.push(send(i));
    await sleep(Math.max(0, startedAt + ((i + 1) * 1000) / perSecond - performance.now()));
  }
  await Promise.all(sent);
  return times;
}
