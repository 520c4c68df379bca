import { setTimeout as sleep } from "node:timers/promises";
import { interruption } from "./interruption.ts";

/** Polls until `check` is true; false when the time is over. */
export async function waitUntil(check: () => boolean | Promise<boolean>, timeoutSeconds: number): Promise<boolean> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  while (!(await check())) {
    if (performance.now() > deadline) return false;
    await sleep(50, undefined, { signal: interruption.signal });
  }
  return true;
}
