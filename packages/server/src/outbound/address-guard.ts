import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/**
 * The address is never called, so a retry is pointless. The message is for users: it names the host, not the resolved
 * address.
 */
export class RefusedAddressError extends Error {
  override readonly name = "RefusedAddressError";

  static private(host: string): RefusedAddressError {
    return new RefusedAddressError(
      `${host} is, or resolves to, a private or reserved address, which this server does not call. ` +
        "An operator can allow it with PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES, " +
        "unless it belongs to Perch itself or to a cloud's metadata service.",
    );
  }
}

/** The addresses of this installation and of cloud metadata services, which no tenant reaches, whatever ranges are allowed. */
export interface OwnAddresses {
  /** Resolves the names of the installation again if that was some time ago. Called before each check. */
  readonly refresh: () => Promise<void>;
  /** Takes a host name or an address. */
  readonly includes: (host: string, port: number) => boolean;
}

/** Whether an address may be connected to: it is public, or in a range that the operator allows, and not our own. */
export type AddressGuard = (address: string, port: number) => boolean;

export function createAddressGuard(
  allowedRanges: readonly string[],
  own: Pick<OwnAddresses, "includes"> = { includes: () => false },
): AddressGuard {
  const allowed = allowedRanges.map(parseRange);
  return (text, port) => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    if (!isPublic(address) && !allowed.some((range) => isWithin(address, range))) return false;
    return !own.includes(text, port);
  };
}

// ipaddr.js reports every unknown range as unicast, such as ::127.0.0.1. In IPv6 only 2000::/3 is allocated as public.
const globalUnicast: Range = [ipaddr.parse("2000::"), 3];

// Azure's platform services answer virtual machines on this otherwise ordinary public address.
const azurePlatform: Range = [ipaddr.parse("168.63.129.16"), 32];

export function isPublic(address: Address): boolean {
  if (isWithin(address, azurePlatform)) return false;
  return address.range() === "unicast" && (address.kind() === "ipv4" || isWithin(address, globalUnicast));
}

/** ipaddr.js misreads the deprecated form ::10.0.0.1 as ::ffff:10.0.0.1, but not when the last part is in hex. */
const toHexForm = (text: string): string =>
  text.replace(/(?<=:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });

/** A normalised address: ::ffff:10.0.0.1 becomes 10.0.0.1. Undefined if it cannot be parsed. */
export const parseAddress = (text: string): Address | undefined => {
  // isIP as well, because ipaddr.js also accepts "10" and "010.1". The zone names an interface and is not part of the address.
  const [plain = ""] = text.split("%", 1);
  return isIP(plain) === 0 ? undefined : ipaddr.process(toHexForm(plain));
};

export const isWithin = (address: Address, [network, bits]: Range): boolean =>
  address.kind() === network.kind() && address.match(network, bits);

export function parseRange(text: string): Range {
  const [base = "", bits] = text.split("/");
  const isRange = bits === undefined || ipaddr.isValidCIDR(text);
  // isIP as well, for the same reason.
  if (isIP(base) === 0 || !isRange)
    throw new TypeError(`${JSON.stringify(text)} is neither an address nor a CIDR range`);
  const network = ipaddr.parse(toHexForm(base));
  const length = bits === undefined ? network.toByteArray().length * 8 : Number(bits);
  // Addresses are unwrapped before they are compared, so ranges must be too.
  if (network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && length >= 96) {
    return [network.toIPv4Address(), length - 96];
  }
  return [network, length];
}
