import { LRUCache } from "lru-cache";

/** Leave to try one delivery now. Whoever got it gives it back, with how it went. */
export interface Permit {
  /** "nowhere": nothing was sent after all. */
  readonly leave: (went: "well" | "badly" | "nowhere") => void;
}

export interface EndpointLimits {
  /** A permit, or how long to wait before asking again. `deferred` is how often this one was sent away before. */
  readonly enter: (webhookId: string, deferred: number) => Permit | { readonly waitMs: number };
}

interface EndpointLimitsOptions {
  readonly now: () => number;
  readonly random: () => number;
  readonly mostAtOnce?: number;
  readonly mostEndpoints?: number;
}

interface Endpoint {
  underWay: number;
  failuresInARow: number;
  /** 0: closed. */
  openMs: number;
  openUntilMs: number;
  isProbing: boolean;
}

const failuresToOpen = 5;
const shortestOpenMs = 5000;
const longestOpenMs = 300_000;
const shortestWaitMs = 500;
const shortestProbeMs = 1000;
const longestPatienceMs = 30_000;

/**
 * A cap and a circuit breaker for each endpoint, in this process. A receiver that does not answer gets few attempts, one at a time,
 * so it costs others neither connections nor places; what waits for it sleeps in the engine.
 */
export function createEndpointLimits(options: EndpointLimitsOptions): EndpointLimits {
  const { now, random, mostAtOnce = 32, mostEndpoints = 10_000 } = options;
  const endpoints = new LRUCache<string, Endpoint>({ max: mostEndpoints });

  const find = (id: string): Endpoint => {
    const known = endpoints.get(id);
    if (known) return known;
    const made = { underWay: 0, failuresInARow: 0, openMs: 0, openUntilMs: 0, isProbing: false };
    endpoints.set(id, made);
    return made;
  };

  /** For everybody a little different. */
  const wait = (ms: number) => ({ waitMs: Math.ceil(Math.max(ms, shortestWaitMs) * (1 + random() / 2)) });
  /** Longer each time, but not so long that a receiver which works again waits for its events. */
  const patience = (deferred: number) => Math.min(shortestWaitMs * 2 ** Math.min(deferred, 20), longestPatienceMs);

  const close = (endpoint: Endpoint) => {
    endpoint.failuresInARow = 0;
    endpoint.openMs = 0;
    endpoint.openUntilMs = 0;
  };

  const fail = (endpoint: Endpoint) => {
    endpoint.failuresInARow++;
    // What was under way when it opened says nothing new.
    if (endpoint.failuresInARow < failuresToOpen || now() < endpoint.openUntilMs) return;
    endpoint.openMs = endpoint.openMs === 0 ? shortestOpenMs : Math.min(endpoint.openMs * 2, longestOpenMs);
    endpoint.openUntilMs = now() + endpoint.openMs;
  };

  return {
    enter: (id, deferred) => {
      const endpoint = find(id);
      if (now() < endpoint.openUntilMs) return wait(endpoint.openUntilMs - now());
      if (endpoint.isProbing) return wait(Math.max(shortestProbeMs, patience(deferred)));
      if (endpoint.underWay >= mostAtOnce) return wait(patience(deferred));
      const isProbe = endpoint.openMs > 0;
      endpoint.isProbing = isProbe;
      endpoint.underWay++;
      return {
        leave: (went) => {
          endpoint.underWay--;
          if (isProbe) endpoint.isProbing = false;
          if (went === "well") close(endpoint);
          else if (went === "badly") fail(endpoint);
        },
      };
    },
  };
}
