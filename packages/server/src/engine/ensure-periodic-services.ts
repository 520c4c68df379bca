import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";
import { cellKey, housekeeping, webhookSweep } from "./services.ts";

interface EnsureOptions {
  readonly ingressUrls: readonly string[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Makes sure that the cell's periodic services are scheduled. Idempotent: every worker calls it when it starts. */
export const ensureHousekeeping = async (options: EnsureOptions): Promise<void> => {
  await Promise.all([housekeeping, webhookSweep].map((service) => ensurePeriodicService(service, options)));
};

async function ensurePeriodicService(service: string, { ingressUrls, logger, signal }: EnsureOptions): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const ingress = ingressUrls[attempt % ingressUrls.length] ?? "";
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(5000)]);
      const response = await fetch(`${ingress}/restate/send/${service}/${cellKey}/ensure`, {
        method: "POST",
        signal: limit,
      });
      if (response.ok) return;
      logger.debug({ status: response.status, service }, "periodic service not registered yet, will retry");
    } catch (error) {
      logger.debug({ err: error, ingress, service }, "engine unreachable for periodic service, will retry");
    }
    await sleep(Math.min(500 * 2 ** attempt, 30_000), undefined, { signal }).catch(() => undefined);
  }
}
