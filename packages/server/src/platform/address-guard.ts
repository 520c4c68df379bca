import ipaddr from "ipaddr.js";
import { type Address, isWithin, parseRange, type Range } from "./address-ranges.ts";

/** The address is never called, so a retry is pointless. The message is for users: it names the host, not what it resolves to. */
export class RefusedAddressError extends Error {
  override readonly name = "RefusedAddressError";

  static private(host: string): RefusedAddressError {
    return new RefusedAddressError(
      `${host} is, or resolves to, a private or reserved address, which this server does not call. ` +
        "An operator can allow it with PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES.",
    );
  }
}

/** Whether an address may be connected to: it is public, or in a range that the operator allows. */
export type AddressGuard = (address: string) => boolean;

export function createAddressGuard(allowedRanges: readonly string[]): AddressGuard {
  const allowed = allowedRanges.map(parseRange);
  return (text) => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return isPublic(address) || allowed.some((range) => isWithin(address, range));
  };
}

// ipaddr.js reports every unknown range as unicast, such as ::127.0.0.1. In IPv6 only 2000::/3 is allocated as public.
const globalUnicast: Range = [ipaddr.parse("2000::"), 3];

// Azure's platform services answer virtual machines on this otherwise ordinary public address.
const azurePlatform: Range = [ipaddr.parse("168.63.129.16"), 32];

function isPublic(address: Address): boolean {
  if (isWithin(address, azurePlatform)) return false;
  return address.range() === "unicast" && (address.kind() === "ipv4" || isWithin(address, globalUnicast));
}
