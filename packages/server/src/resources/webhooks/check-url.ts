import { promises as dns } from "node:dns";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createAddressGuard, type OwnAddresses, RefusedAddressError } from "../../outbound/address-guard.ts";
import { portOf, type Resolve } from "../../outbound/guarded-client.ts";
import { createOwnAddresses } from "../../outbound/own-addresses.ts";
import { invalid } from "../../platform/api-error.ts";
import { findUrlProblem } from "./webhook-rules.ts";

interface UrlCheckOptions {
  readonly allowHttp: boolean;
  readonly allowedRanges: readonly string[];
  readonly own?: OwnAddresses;
  readonly resolve?: Resolve;
}

/** Rejects a URL that no delivery could be sent to. */
export type CheckUrl = (url: string) => Promise<void>;

const resolveTimeoutMs = 2000;

/**
 * Fails early, at registration, instead of on every delivery. It is not the guard against private addresses: DNS may change at any
 * time, so the delivering client checks the address of every connection itself.
 */
export function createUrlCheck({
  allowHttp,
  allowedRanges,
  own = createOwnAddresses([]),
  resolve,
}: UrlCheckOptions): CheckUrl {
  const guard = createAddressGuard(allowedRanges, own);
  const resolveAddresses = async (hostname: string): Promise<readonly string[]> => {
    const name = hostname.replace(/^\[|\]$/g, "");
    if (isIP(name) !== 0) return [name];
    const lookup = (resolve ?? ((text) => dns.lookup(text, { all: true })))(name);
    // A host that does not resolve (yet) may be registered: the delivery log will show the failure.
    const records = await Promise.race([lookup.catch(() => []), sleep(resolveTimeoutMs, [], { ref: false })]);
    return records.map(({ address }) => address);
  };
  return async (url) => {
    const problem = findUrlProblem(url, allowHttp);
    if (problem !== undefined) throw invalid("url", problem);
    const { hostname, port: text, protocol } = new URL(url);
    const port = portOf(text, protocol);
    await own.refresh();
    const addresses = await resolveAddresses(hostname);
    if (own.includes(hostname, port) || !addresses.every((address) => guard(address, port)))
      throw invalid("url", RefusedAddressError.private(hostname).message);
  };
}
