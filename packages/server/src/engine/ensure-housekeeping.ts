import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";
import { housekeeping, theCell, webhookSweep } from "./services.ts";

interface EnsureOptions {
  readonly ingressUrls: readonly string[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Sees to it that what the cell does by itself goes on. Asking often, and from everywhere, is asking once. */
export const ensureHousekeeping = async (options: EnsureOptions): Promise<void> => {
  await Promise.all([housekeeping, webhookSweep].map((service) => ensureChain(service, options)));
};

async function ensureChain(service: string, { ingressUrls, logger, signal }: EnsureOptions): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const ingress = ingressUrls[attempt % ingressUrls.length] ?? "";
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(5000)]);
      const response = await fetch(`${ingress}/restate/send/${service}/${theCell}/ensure`, {
        method: "POST",
        signal: limit,
      });
      if (response.ok) return;
      logger.debug({ status: response.status, service }, "the engine does not know the housekeeping yet; asking again");
    } catch (error) {
      logger.debug({ err: error, ingress }, "the engine cannot be reached for the housekeeping; asking again");
    }
    await sleep(Math.min(500 * 2 ** attempt, 30_000), undefined, { signal }).catch(() => undefined);
  }
}
