import type { Share } from "../../fairness/shares.ts";
import { createLruCache } from "../../platform/lru-cache.ts";
import { createDeliveryTurns } from "./delivery-turns.ts";

/** How long to wait before the next try. */
interface Deferral {
  readonly waitMs: number;
}

/** Permission to attempt one delivery now. The holder releases it with the outcome. */
export interface Permit {
  /** To be asked before the request is sent: one organisation sends only so much to one host at once. */
  readonly enterAddress: (url: string) => Deferral | undefined;
  /** "skipped": nothing was sent. */
  readonly release: (outcome: "succeeded" | "failed" | "skipped") => void;
}

interface PlannedAttempt {
  readonly organisationId: string;
  readonly webhookId: string;
  /** How often this attempt was deferred. */
  readonly deferred: number;
}

export interface EndpointLimits {
  readonly acquire: (attempt: PlannedAttempt) => Permit | Deferral;
}

interface EndpointLimitsOptions {
  readonly now: () => number;
  readonly random: () => number;
  /** The share of deliveries that an organisation may have under way in this process, to all hosts. */
  readonly share: Pick<Share, "take">;
  readonly maxConcurrent?: number;
  readonly maxPerHost?: number;
  readonly maxEndpoints?: number;
}

interface Endpoint {
  inFlight: number;
  consecutiveFailures: number;
  /** 0: the circuit is closed. */
  openMs: number;
  openUntilMs: number;
  isProbing: boolean;
  /** The address of its last attempt, and whether an attempt to it has succeeded. */
  url: string | undefined;
  hostKey: string | undefined;
  hasSucceeded: boolean;
}

const failuresToOpen = 5;
const minOpenMs = 5000;
const maxOpenMs = 300_000;
const minWaitMs = 500;
const minProbeWaitMs = 1000;
const maxBackoffMs = 30_000;

/**
 * A concurrency limit and a circuit breaker per endpoint, and a limit per organisation and per host of an organisation,
 * in this process. An address or a host that has not yet answered this process with 2xx gets one delivery at a time, so
 * that a host that never asked for events is not flooded. An endpoint that stops answering gets one probe at a time;
 * many slow endpoints share their organisation's limit. The other deliveries wait in the engine, without connections
 * and without slots for running invocations.
 */
export function createEndpointLimits(options: EndpointLimitsOptions): EndpointLimits {
  const { now, random, share, maxConcurrent = 16, maxPerHost = 16, maxEndpoints = 10_000 } = options;
  const endpoints = createLruCache<string, Endpoint>(maxEndpoints);
  const turns = createDeliveryTurns(now);
  const inFlightByHost = new Map<string, number>();
  /** Hosts that have answered with 2xx. */
  const provenHosts = createLruCache<string, true>(maxEndpoints);
  const isFull = (hostKey: string): boolean =>
    (inFlightByHost.get(hostKey) ?? 0) >= (provenHosts.has(hostKey) ? maxPerHost : Math.min(1, maxPerHost));
  const maxInFlight = ({ hasSucceeded }: Endpoint): number =>
    hasSucceeded ? maxConcurrent : Math.min(1, maxConcurrent);

  const findOrCreate = (id: string): Endpoint => {
    const existing = endpoints.get(id);
    if (existing) return existing;
    const created: Endpoint = {
      inFlight: 0,
      consecutiveFailures: 0,
      openMs: 0,
      openUntilMs: 0,
      isProbing: false,
      url: undefined,
      hostKey: undefined,
      hasSucceeded: false,
    };
    endpoints.set(id, created);
    return created;
  };

  /** Jittered, so that deferred deliveries do not return all at once. */
  const waitWithJitter = (ms: number) => ({ waitMs: Math.ceil(Math.max(ms, minWaitMs) * (1 + random() / 2)) });
  /** Exponential, and capped so that a recovered endpoint soon gets its events. */
  const backoffMs = (deferred: number) => Math.min(minWaitMs * 2 ** Math.min(deferred, 20), maxBackoffMs);
  const waitForTurn = ({ organisationId, deferred }: PlannedAttempt) =>
    waitWithJitter(Math.max(backoffMs(deferred), turns.nextWaitMs(organisationId)));

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

  const enter = (hostKey: string): void => void inFlightByHost.set(hostKey, (inFlightByHost.get(hostKey) ?? 0) + 1);
  const leave = (hostKey: string): void => {
    const others = (inFlightByHost.get(hostKey) ?? 1) - 1;
    if (others > 0) inFlightByHost.set(hostKey, others);
    else inFlightByHost.delete(hostKey);
  };

  const createPermit = (endpoint: Endpoint, attempt: PlannedAttempt, giveBack: () => void): Permit => {
    const isProbe = endpoint.openMs > 0;
    let enteredHost: string | undefined;
    let sentTo: string | undefined;
    let sentAtMs = 0;
    endpoint.isProbing = isProbe;
    endpoint.inFlight++;
    return {
      enterAddress: (url) => {
        const hostKey = `${attempt.organisationId} ${URL.parse(url)?.host ?? url}`;
        // The webhook was changed: answers of its earlier address prove nothing about this one.
        if (endpoint.url !== url) endpoint.hasSucceeded = false;
        endpoint.url = url;
        endpoint.hostKey = hostKey;
        if (endpoint.inFlight > maxInFlight(endpoint) || isFull(hostKey)) return waitForTurn(attempt);
        enter(hostKey);
        enteredHost = hostKey;
        sentTo = url;
        sentAtMs = now();
        return undefined;
      },
      release: (outcome) => {
        endpoint.inFlight--;
        giveBack();
        if (isProbe) endpoint.isProbing = false;
        if (enteredHost !== undefined) {
          const underWay = inFlightByHost.get(enteredHost) ?? 1;
          if (outcome !== "skipped") turns.observe(attempt.organisationId, now() - sentAtMs, underWay);
          leave(enteredHost);
          if (outcome === "succeeded") provenHosts.set(enteredHost, true);
        }
        if (outcome === "succeeded") {
          endpoint.hasSucceeded ||= sentTo === endpoint.url;
          closeCircuit(endpoint);
        } else if (outcome === "failed") recordFailure(endpoint);
      },
    };
  };

  return {
    acquire: (attempt) => {
      const endpoint = findOrCreate(attempt.webhookId);
      if (now() < endpoint.openUntilMs) return waitWithJitter(endpoint.openUntilMs - now());
      if (endpoint.isProbing) return waitWithJitter(Math.max(minProbeWaitMs, backoffMs(attempt.deferred)));
      if (endpoint.inFlight >= maxInFlight(endpoint)) return waitForTurn(attempt);
      if (endpoint.hostKey !== undefined && isFull(endpoint.hostKey)) return waitForTurn(attempt);
      const giveBack = share.take(attempt.organisationId);
      return giveBack ? createPermit(endpoint, attempt, giveBack) : waitForTurn(attempt);
    },
  };
}
