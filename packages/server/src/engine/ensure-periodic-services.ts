import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";
import { cellKey, housekeeping, reconcile, webhookSweep } from "./services.ts";

interface EnsureOptions {
  readonly ingressUrls: readonly string[];
  readonly logger: Logger;
}

export interface PeriodicServices {
  /** Makes sure now that all are scheduled, because the engine may have lost them. */
  readonly ensure: () => void;
  readonly stop: () => void;
}

/** Registration notices an engine that comes back empty. This interval covers all other failures. */
const everyMs = 10 * 60_000;

/** Sees to it that the cell's periodic services are scheduled: at the start, now and then, and when asked. Idempotent. */
export function keepPeriodicServices({ ingressUrls, logger }: EnsureOptions): PeriodicServices {
  const stopped = new AbortController();
  let current = new AbortController();

  const ensure = (): void => {
    // A later call replaces an earlier one that still tries.
    current.abort();
    current = new AbortController();
    const signal = AbortSignal.any([stopped.signal, current.signal]);
    for (const service of [housekeeping, webhookSweep, reconcile])
      void ensurePeriodicService(service, { ingressUrls, logger, signal });
  };

  const timer = setInterval(ensure, everyMs).unref();
  ensure();
  return {
    ensure,
    stop: () => {
      clearInterval(timer);
      stopped.abort();
    },
  };
}

async function ensurePeriodicService(
  service: string,
  { ingressUrls, logger, signal }: EnsureOptions & { readonly signal: AbortSignal },
): Promise<void> {
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
