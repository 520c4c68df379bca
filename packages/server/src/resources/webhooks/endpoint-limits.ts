import { LRUCache } from "lru-cache";

/** Permission to attempt one delivery now. The holder releases it with the outcome. */
export interface Permit {
  /** "skipped": nothing was sent. */
  readonly release: (outcome: "succeeded" | "failed" | "skipped") => void;
}

export interface EndpointLimits {
  /** A permit, or how long to wait before the next try. `deferred` counts how often this attempt was deferred. */
  readonly acquire: (webhookId: string, deferred: number) => Permit | { readonly waitMs: number };
}

interface EndpointLimitsOptions {
  readonly now: () => number;
  readonly random: () => number;
  readonly maxConcurrent?: number;
  readonly maxEndpoints?: number;
}

interface Endpoint {
  inFlight: number;
  consecutiveFailures: number;
  /** 0: the circuit is closed. */
  openMs: number;
  openUntilMs: number;
  isProbing: boolean;
}

const failuresToOpen = 5;
const minOpenMs = 5000;
const maxOpenMs = 300_000;
const minWaitMs = 500;
const minProbeWaitMs = 1000;
const maxBackoffMs = 30_000;

/**
 * A concurrency limit and a circuit breaker per endpoint, in this process. An endpoint that does not answer gets one probe at a time,
 * so it takes no connections or slots from others; its deliveries wait in the engine.
 */
export function createEndpointLimits(options: EndpointLimitsOptions): EndpointLimits {
  const { now, random, maxConcurrent = 32, maxEndpoints = 10_000 } = options;
  const endpoints = new LRUCache<string, Endpoint>({ max: maxEndpoints });

  const findOrCreate = (id: string): Endpoint => {
    const existing = endpoints.get(id);
    if (existing) return existing;
    const created = { inFlight: 0, consecutiveFailures: 0, openMs: 0, openUntilMs: 0, isProbing: false };
    endpoints.set(id, created);
    return created;
  };

  /** Jittered, so that deferred deliveries do not return all at once. */
  const waitWithJitter = (ms: number) => ({ waitMs: Math.ceil(Math.max(ms, minWaitMs) * (1 + random() / 2)) });
  /** Exponential, and capped so that a recovered endpoint soon gets its events. */
  const backoffMs = (deferred: number) => Math.min(minWaitMs * 2 ** Math.min(deferred, 20), maxBackoffMs);

  const closeCircuit = (endpoint: Endpoint) => {
    endpoint.consecutiveFailures = 0;
    endpoint.openMs = 0;
    endpoint.openUntilMs = 0;
  };

  const recordFailure = (endpoint: Endpoint) => {
    endpoint.consecutiveFailures++;
    // Requests in flight when the circuit opened do not keep it open longer.
    if (endpoint.consecutiveFailures < failuresToOpen || now() < endpoint.openUntilMs) return;
    endpoint.openMs = endpoint.openMs === 0 ? minOpenMs : Math.min(endpoint.openMs * 2, maxOpenMs);
    endpoint.openUntilMs = now() + endpoint.openMs;
  };

  return {
    acquire: (id, deferred) => {
      const endpoint = findOrCreate(id);
      if (now() < endpoint.openUntilMs) return waitWithJitter(endpoint.openUntilMs - now());
      if (endpoint.isProbing) return waitWithJitter(Math.max(minProbeWaitMs, backoffMs(deferred)));
      if (endpoint.inFlight >= maxConcurrent) return waitWithJitter(backoffMs(deferred));
      const isProbe = endpoint.openMs > 0;
      endpoint.isProbing = isProbe;
      endpoint.inFlight++;
      return {
        release: (outcome) => {
          endpoint.inFlight--;
          if (isProbe) endpoint.isProbing = false;
          if (outcome === "succeeded") closeCircuit(endpoint);
          else if (outcome === "failed") recordFailure(endpoint);
        },
      };
    },
  };
}
