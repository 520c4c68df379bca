import type { SecuritySettings } from "@perch/contract";
import { isWithin, parseAddress, parseRange } from "../platform/address-ranges.ts";
import { ApiError, forbidden } from "../platform/api-error.ts";
import { type Authorities, isAcceptedCertificate } from "./certificate-rules.ts";
import type { Client } from "./client.ts";

/** Why a client may not come in; undefined when it may. */
export type Objection = (client: Client, now: Date) => ApiError | undefined;

export type TransportSettings = Pick<SecuritySettings, "enforceHttps" | "ipWhitelist"> & {
  readonly mtls?: { readonly enabled: boolean; readonly caCert: string } | undefined;
};

/** Whether an address is in one of these ranges. What cannot be read is in none. */
export function addressList(ranges: readonly string[]): (address: string) => boolean {
  const parsed = ranges.map(parseRange);
  return (text) => {
    const address = parseAddress(text);
    return address !== undefined && parsed.some((range) => isWithin(address, range));
  };
}

/** What settings ask of a connection, made ready once; undefined where they ask for nothing. */
export function transportObjection(settings: TransportSettings, authorities: Authorities): Objection | undefined {
  const objections: Objection[] = [];
  if (settings.enforceHttps) {
    objections.push(({ isHttps }) =>
      isHttps ? undefined : forbidden("This needs HTTPS. A key that was sent over plain HTTP should be replaced."),
    );
  }
  if (settings.ipWhitelist?.enabled) {
    const isListed = addressList(settings.ipWhitelist.addresses);
    objections.push(({ address }) =>
      isListed(address) ? undefined : forbidden("Your address is not in the list of addresses that may ask for this."),
    );
  }
  if (settings.mtls?.enabled) {
    const { caCert } = settings.mtls;
    objections.push(({ certificate }, now) => {
      const shown = certificate();
      if (!shown) return new ApiError("unauthorized", "This needs a client certificate (mutual TLS).");
      return isAcceptedCertificate(shown, authorities(caCert), now)
        ? undefined
        : new ApiError("unauthorized", "This client certificate is not accepted here, or not valid now.");
    });
  }
  if (objections.length === 0) return undefined;
  return (client, now) => {
    for (const object of objections) {
      const objection = object(client, now);
      if (objection) return objection;
    }
    return undefined;
  };
}

/** `Strict-Transport-Security`, over HTTPS alone; of several settings the longest counts, since they only tighten. */
export function hstsHeader(
  isHttps: boolean,
  ...settings: readonly (SecuritySettings["hsts"] | undefined)[]
): string | undefined {
  const ages = settings.flatMap((hsts) => (hsts?.enabled ? [hsts.maxAge] : []));
  return isHttps && ages.length > 0 ? `max-age=${Math.max(...ages)}` : undefined;
}
