import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";
import { housekeeping, theCell } from "./services.ts";

interface EnsureOptions {
  readonly ingressUrls: readonly string[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Sees to it that the cell's housekeeping goes on. Asking often, and from everywhere, is asking once. */
export async function ensureHousekeeping({ ingressUrls, logger, signal }: EnsureOptions): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const ingress = ingressUrls[attempt % ingressUrls.length] ?? "";
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(5000)]);
      const response = await fetch(`${ingress}/restate/send/${housekeeping}/${theCell}/ensure`, {
        method: "POST",
        signal: limit,
      });
      if (response.ok) return;
      logger.debug({ status: response.status }, "the engine does not know the housekeeping yet; asking again");
    } catch (error) {
      logger.debug({ err: error, ingress }, "the engine cannot be reached for the housekeeping; asking again");
    }
    await sleep(Math.min(500 * 2 ** attempt, 30_000), undefined, { signal }).catch(() => undefined);
  }
}
