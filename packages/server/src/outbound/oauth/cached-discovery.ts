import { LRUCache } from "lru-cache";
import { causesOf } from "../outbound-errors.ts";
import { OutboundBusyError } from "../outbound-share.ts";

interface DiscoveryCacheOptions<Found, Failure extends Error> {
  readonly discover: (address: string) => Promise<Found>;
  /** The failure that callers get in place of an error, for a while too. */
  readonly toFailure: (error: unknown, address: string) => Failure;
  readonly now: () => number;
}

export interface DiscoveryCache<Found> {
  /** Throws if it failed a moment ago. */
  readonly findKnown: (address: string) => Found | undefined;
  /** Concurrent calls share one discovery. */
  readonly discover: (address: string) => Promise<Found>;
}

export const discoveryTtlMs = 10 * 60_000;
const failureTtlMs = 2000;
const maxAddresses = 1000;

/** Its cause is not the server, so other callers need not suffer from it. */
const isOfCaller = (error: unknown): boolean =>
  [...causesOf(error)].some((cause) => cause instanceof OutboundBusyError);

type Outcome<Found, Failure> = { readonly result: Found } | { readonly failure: Failure; readonly isOfCaller: boolean };

/**
 * The metadata of servers, by address: cached for ten minutes, and failures for two seconds, so that many callers ask
 * once.
 */
export function createDiscoveryCache<Found extends object, Failure extends Error>({
  discover,
  toFailure,
  now,
}: DiscoveryCacheOptions<Found, Failure>): DiscoveryCache<Found> {
  const perf = { now };
  const underWay = new Map<string, Promise<Outcome<Found, Failure>>>();
  const found = new LRUCache<string, Found>({ max: maxAddresses, ttl: discoveryTtlMs, perf });
  const failures = new LRUCache<string, Failure>({ max: maxAddresses, ttl: failureTtlMs, perf });

  const ask = async (address: string): Promise<Outcome<Found, Failure>> => {
    try {
      const result = await discover(address);
      found.set(address, result);
      return { result };
    } catch (error) {
      const failure = toFailure(error, address);
      if (isOfCaller(error)) return { failure, isOfCaller: true };
      failures.set(address, failure);
      return { failure, isOfCaller: false };
    } finally {
      underWay.delete(address);
    }
  };

  /** If the first caller's own request failed, a caller that joined it asks again itself. */
  const discoverOrJoin = async (address: string): Promise<Found> => {
    for (let joined = underWay.get(address); joined; joined = underWay.get(address)) {
      const outcome = await joined;
      if ("result" in outcome) return outcome.result;
      if (!outcome.isOfCaller) throw outcome.failure;
    }
    const own = ask(address);
    underWay.set(address, own);
    const outcome = await own;
    if ("result" in outcome) return outcome.result;
    throw outcome.failure;
  };

  const findKnown = (address: string): Found | undefined => {
    const failure = failures.get(address);
    if (failure) throw failure;
    return found.get(address);
  };

  return { findKnown, discover: discoverOrJoin };
}
