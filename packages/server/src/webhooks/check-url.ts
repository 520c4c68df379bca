import { promises as dns } from "node:dns";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createAddressGuard, RefusedAddressError } from "../platform/address-guard.ts";
import { invalid } from "../platform/api-error.ts";
import type { Resolve } from "../platform/guarded-connector.ts";
import { refusedUrl } from "./webhook-rules.ts";

interface UrlCheckOptions {
  readonly allowHttp: boolean;
  readonly allowedRanges: readonly string[];
  readonly resolve?: Resolve;
}

/** Refuses an address that no delivery would go to. */
export type CheckUrl = (url: string) => Promise<void>;

const resolveMs = 2000;

/**
 * For whoever registers an address: a quick answer instead of deliveries that all fail. It is no guard: where a name leads may
 * change at any time, so the client that delivers looks for itself, each time.
 */
export function createUrlCheck({ allowHttp, allowedRanges, resolve }: UrlCheckOptions): CheckUrl {
  const guard = createAddressGuard(allowedRanges);
  const addressesOf = async (hostname: string): Promise<readonly string[]> => {
    const name = hostname.replace(/^\[|\]$/g, "");
    if (isIP(name) !== 0) return [name];
    const found = (resolve ?? ((text) => dns.lookup(text, { all: true })))(name);
    // A name that leads nowhere, or not yet, may be registered: the delivery log will say so.
    const all = await Promise.race([found.catch(() => []), sleep(resolveMs, [], { ref: false })]);
    return all.map(({ address }) => address);
  };
  return async (url) => {
    const refused = refusedUrl(url, allowHttp);
    if (refused !== undefined) throw invalid("url", refused);
    const { hostname } = new URL(url);
    if (!(await addressesOf(hostname)).every(guard))
      throw invalid("url", RefusedAddressError.private(hostname).message);
  };
}
