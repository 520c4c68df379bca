const maxAddressLength = 2048;
const loopback = /^(127\.0\.0\.1|localhost|\[::1\])$/;

export const isInsecure = (address: string): boolean => /^http:/i.test(address);

/** Parsed, if tokens and codes may travel to it: encrypted, or on the own machine. It names no user and has no fragment. */
export function parseSecureAddress(address: unknown): URL | undefined {
  if (typeof address !== "string" || address.length > maxAddressLength || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  const { protocol, hostname, username, password } = url;
  if (username !== "" || password !== "" || address.includes("#")) return undefined;
  return protocol === "https:" || (protocol === "http:" && loopback.test(hostname)) ? url : undefined;
}

/** The same for an address that another one names: what is encrypted leads to nothing that is not. */
export function parseLinkedAddress(address: unknown, from: string): URL | undefined {
  const url = parseSecureAddress(address);
  return url && (url.protocol === "https:" || isInsecure(from)) ? url : undefined;
}
