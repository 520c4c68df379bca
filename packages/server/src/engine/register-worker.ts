import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";

interface RegisterOptions {
  readonly adminUrls: readonly string[];
  /** Where the engine reaches this release's workers. Another release needs another address, so that runs end where they began. */
  readonly workerUrl: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The engine asks the worker for its services before it answers. A node that takes longer is silent, and the next is asked. */
const attemptLimitMs = 5000;

/** Registers the address of this release's workers with the engine. Idempotent: every worker calls it when it starts. */
export async function registerWorker({ adminUrls, workerUrl, logger, signal }: RegisterOptions): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const admin = adminUrls[attempt % adminUrls.length] ?? "";
    try {
      const response = await fetch(`${admin}/deployments`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ uri: workerUrl, force: false }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(attemptLimitMs)]),
      });
      if (response.ok) {
        logger.info({ workerUrl }, "worker registered with the engine");
        return;
      }
      logger.warn(
        { workerUrl, status: response.status, answer: (await response.text()).slice(0, 500) },
        "worker registration refused, will retry",
      );
    } catch (error) {
      if (signal.aborted) return;
      logger.warn({ err: error, admin }, "engine unreachable for worker registration, will retry");
    }
    await sleep(Math.min(200 * 2 ** attempt, 5000), undefined, { signal }).catch(() => undefined);
  }
}
