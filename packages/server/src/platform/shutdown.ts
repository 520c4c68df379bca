import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "./logger.ts";

export interface ShutdownStep {
  readonly name: string;
  readonly limitSeconds: number;
  readonly run: () => Promise<void>;
}

/** Runs every step in order, each within its limit; one that fails or hangs does not stop the next. */
export async function shutDown(steps: readonly ShutdownStep[], logger: Logger): Promise<boolean> {
  let clean = true;
  for (const { name, limitSeconds, run } of steps) {
    const overdue = new AbortController();
    try {
      await Promise.race([
        run(),
        sleep(limitSeconds * 1000, undefined, { signal: overdue.signal }).then(() => {
          throw new Error(`not done after ${limitSeconds} s`);
        }),
      ]);
      logger.debug({ step: name }, "shutdown step done");
    } catch (error) {
      clean = false;
      logger.error({ step: name, err: error }, "shutdown step failed");
    } finally {
      overdue.abort();
    }
  }
  return clean;
}
