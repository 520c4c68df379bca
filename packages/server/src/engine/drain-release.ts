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
const logEveryMs = 10_000;

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
  for (let waitedMs = 0; !signal.aborted; waitedMs += everyMs) {
    const runs = await countOwn(options).catch((error: unknown) => {
      logger.warn({ err: error }, "runs of this release not counted, will retry");
      return undefined;
    });
    if (runs === 0) return;
    if (waitedMs % logEveryMs === 0)
      logger.info({ release, runs }, "another release is active, waiting for the runs of this one to end");
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
  logger.warn({ release }, "runs of this release are left: start a worker of it again, or they never end");
}
