import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Range = readonly [Address, number];

/** ipaddr.js misreads the deprecated form ::10.0.0.1 as ::ffff:10.0.0.1, but not when the last part is in hex. */
const inHex = (text: string): string =>
  text.replace(/(?<=:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });

/** A normalised address: ::ffff:10.0.0.1 becomes 10.0.0.1. Undefined if it cannot be parsed. */
export const parseAddress = (text: string): Address | undefined => {
  // isIP as well, because ipaddr.js also accepts "10" and "010.1". The zone names an interface and is not part of the address.
  const [plain = ""] = text.split("%", 1);
  return isIP(plain) === 0 ? undefined : ipaddr.process(inHex(plain));
};

export const isWithin = (address: Address, [network, bits]: Range): boolean =>
  address.kind() === network.kind() && address.match(network, bits);

export function parseRange(text: string): Range {
  const [base = "", bits] = text.split("/");
  const isRange = bits === undefined || ipaddr.isValidCIDR(text);
  // isIP as well, for the same reason.
  if (isIP(base) === 0 || !isRange)
    throw new TypeError(`${JSON.stringify(text)} is neither an address nor a CIDR range`);
  const network = ipaddr.parse(inHex(base));
  const length = bits === undefined ? network.toByteArray().length * 8 : Number(bits);
  // Addresses are unwrapped before they are compared, so ranges must be too.
  if (network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && length >= 96) {
    return [network.toIPv4Address(), length - 96];
  }
  return [network, length];
}
