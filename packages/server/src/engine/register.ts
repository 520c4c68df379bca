import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";

interface RegisterOptions {
  readonly adminUrls: readonly string[];
  /** Where the engine reaches this release's workers. Another release needs another address, so that runs end where they began. */
  readonly workerUrl: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Tells the engine where the workers of this release are. All of them may say so, at once and as often as they start. */
export async function registerWorker({ adminUrls, workerUrl, logger, signal }: RegisterOptions): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const admin = adminUrls[attempt % adminUrls.length] ?? "";
    try {
      const response = await fetch(`${admin}/deployments`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ uri: workerUrl, force: false }),
        signal,
      });
      if (response.ok) {
        logger.info({ workerUrl }, "registered with the engine");
        return;
      }
      logger.warn(
        { workerUrl, status: response.status, answer: (await response.text()).slice(0, 500) },
        "the engine did not take this worker; asking again",
      );
    } catch (error) {
      if (signal.aborted) return;
      logger.warn({ err: error, admin }, "the engine cannot be reached to register; asking again");
    }
    await sleep(Math.min(200 * 2 ** attempt, 5000), undefined, { signal }).catch(() => undefined);
  }
}
