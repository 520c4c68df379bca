import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";
import type { EngineAdmin } from "./engine-admin.ts";
import { parseAddress } from "./release-address.ts";

interface DrainOptions {
  readonly admin: EngineAdmin;
  readonly workerUrl: string;
  readonly release: string;
  readonly logger: Logger;
  /** Aborted when there is no more time. */
  readonly signal: AbortSignal;
}

const everyMs = 1000;
const looksPerLogLine = 10;

/** How many runs are bound to this address and release, and so can end nowhere else. */
async function countOwn({ admin, workerUrl, release }: DrainOptions): Promise<number> {
  const [deployments, pinned] = await Promise.all([admin.listDeployments(), admin.countPinned()]);
  return deployments
    .filter(({ uri }) => {
      const address = parseAddress(uri);
      return address?.release === release && address.workerUrl === workerUrl;
    })
    .reduce((sum, { id }) => sum + (pinned.get(id) ?? 0), 0);
}

/** Resolves when no run needs this release at this address any longer, or the time is over. A silent engine is asked again. */
export async function drainRelease(options: DrainOptions): Promise<void> {
  const { release, logger, signal } = options;
  for (let look = 0; !signal.aborted; look++) {
    const counted = await Promise.allSettled([countOwn(options)]);
    if (counted[0].status === "fulfilled" && counted[0].value === 0) return;
    if (look % looksPerLogLine === 0) {
      const found = counted[0].status === "fulfilled" ? { runs: counted[0].value } : { err: counted[0].reason };
      logger.info({ release, ...found }, "another release is active, waiting for the runs of this one to end");
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
  logger.warn({ release }, "runs of this release are left: start a worker of it again, or they never end");
}
