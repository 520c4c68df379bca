import { SecureUrl } from "@perch/contract";

export const isInsecure = (address: string): boolean => /^http:/i.test(address);

/** Parsed, if tokens and codes may travel to it. Servers are held to the same rule as definitions. */
export function parseSecureAddress(address: unknown): URL | undefined {
  const { data, success } = SecureUrl.safeParse(address);
  return success && URL.canParse(data) ? new URL(data) : undefined;
}

/** The same for an address that another one names: an encrypted address must not lead to an unencrypted one. */
export function parseLinkedAddress(address: unknown, from: string): URL | undefined {
  const url = parseSecureAddress(address);
  return url && (url.protocol === "https:" || isInsecure(from)) ? url : undefined;
}
