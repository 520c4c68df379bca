import type { SecuritySettings } from "@perch/contract";
import { isWithin, parseAddress, parseRange } from "../outbound/address-guard.ts";
import { ApiError, forbidden } from "../platform/api-error.ts";
import { isAcceptedCertificate, type ReadAuthorities } from "./certificate-rules.ts";
import type { Client } from "./client.ts";

/** Returns the error for a client that must be refused; undefined if it may connect. */
export type CheckTransport = (client: Client, now: Date) => ApiError | undefined;

export type TransportSettings = Pick<SecuritySettings, "enforceHttps" | "ipWhitelist"> & {
  readonly mtls?: { readonly enabled: boolean; readonly caCert: string } | undefined;
};

/** Whether an address is in one of these ranges. An address that cannot be parsed is in none. */
export function createAddressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const parsed = ranges.map(parseRange);
  return (text) => {
    const address = parseAddress(text);
    return address !== undefined && parsed.some((range) => isWithin(address, range));
  };
}

/** One check for all connection settings; undefined if they require nothing. */
export function createTransportCheck(
  settings: TransportSettings,
  readAuthorities: ReadAuthorities,
): CheckTransport | undefined {
  const checks: CheckTransport[] = [];
  if (settings.enforceHttps) {
    checks.push(({ isHttps }) =>
      isHttps ? undefined : forbidden("This needs HTTPS. A key that was sent over plain HTTP should be replaced."),
    );
  }
  if (settings.ipWhitelist?.enabled) {
    const isListed = createAddressMatcher(settings.ipWhitelist.addresses);
    checks.push(({ address, isSandboxedPage }) => {
      if (!isListed(address)) return forbidden("Your address is not in the list of addresses that may ask for this.");
      return isSandboxedPage
        ? forbidden(
            "A sandboxed page made this request, such as the one at /docs. A list of addresses refuses those, because a page of any site is seen at its visitor's address. Use the console or a program.",
          )
        : undefined;
    });
  }
  if (settings.mtls?.enabled) {
    const { caCert } = settings.mtls;
    checks.push(({ certificate }, now) => {
      const presented = certificate();
      if (!presented) return new ApiError("unauthorized", "This needs a client certificate (mutual TLS).");
      return isAcceptedCertificate(presented, readAuthorities(caCert), now)
        ? undefined
        : new ApiError("unauthorized", "This client certificate is not accepted here, or not valid now.");
    });
  }
  if (checks.length === 0) return undefined;
  return (client, now) => {
    for (const check of checks) {
      const refusal = check(client, now);
      if (refusal) return refusal;
    }
    return undefined;
  };
}

/** `Strict-Transport-Security`, sent over HTTPS only. The longest of several settings wins: an agent can only tighten. */
export function hstsHeader(
  isHttps: boolean,
  ...settings: readonly (SecuritySettings["hsts"] | undefined)[]
): string | undefined {
  const ages = settings.flatMap((hsts) => (hsts?.enabled ? [hsts.maxAge] : []));
  return isHttps && ages.length > 0 ? `max-age=${Math.max(...ages)}` : undefined;
}
