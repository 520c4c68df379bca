import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";
import type { EngineAdmin } from "./engine-admin.ts";
import { parseAddress } from "./release-address.ts";
import type { Endpoint } from "./serve-endpoint.ts";

interface DrainOptions {
  readonly admin: EngineAdmin;
  readonly workerUrl: string;
  readonly release: string;
  readonly endpoint: Pick<Endpoint, "setAccepting">;
  readonly logger: Logger;
  /** Aborted when there is no more time. */
  readonly signal: AbortSignal;
}

const everyMs = 1000;
/** Longer than a request that was under way needs to arrive. */
const confirmMs = 1500;
const looksPerLogLine = 10;

/** How many runs are bound to this address and release, and so can end nowhere else. */
async function countOwn({ admin, workerUrl, release }: DrainOptions): Promise<number> {
  const [deployments, bound] = await Promise.all([admin.listDeployments(), admin.countBound()]);
  return deployments
    .filter(({ uri }) => {
      const address = parseAddress(uri);
      return address?.release === release && address.workerUrl === workerUrl;
    })
    .reduce((sum, { id }) => sum + (bound.get(id) ?? 0), 0);
}

/**
 * The end of a run begins other work, such as its deliveries, which comes here until a worker of the active release has
 * registered. So no more work is accepted before the last count. Refused work was not bound to this release, and waits
 * for the other one.
 */
async function isDrained(options: DrainOptions): Promise<boolean> {
  if ((await countOwn(options)) > 0) return false;
  options.endpoint.setAccepting(false);
  try {
    await sleep(confirmMs);
    if ((await countOwn(options)) === 0) return true;
  } catch (error) {
    options.endpoint.setAccepting(true);
    throw error;
  }
  options.endpoint.setAccepting(true);
  return false;
}

/** Resolves when no run needs this release at this address any longer, or the time is over. A silent engine is asked again. */
export async function drainRelease(options: DrainOptions): Promise<void> {
  const { release, logger, signal } = options;
  for (let look = 0; !signal.aborted; look++) {
    const [drained] = await Promise.allSettled([isDrained(options)]);
    if (drained.status === "fulfilled" && drained.value) return;
    if (look % looksPerLogLine === 0) {
      const failure = drained.status === "rejected" ? { err: drained.reason } : {};
      logger.info({ release, ...failure }, "another release is active, waiting for the runs of this one to end");
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
  logger.warn({ release }, "runs of this release are left: start a worker of it again, or they never end");
}
