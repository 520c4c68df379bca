import { invalid } from "../../platform/api-error.ts";

const parseHost = (host: string): URL | undefined =>
  URL.parse(/^https?:\/\//.test(host) ? host : `https://${host}`) ?? undefined;

/** The origin that a stored host stands for: HTTPS, unless it names another scheme. */
export function originOf(host: string): string {
  const url = parseHost(host);
  if (!url) throw new Error("a stored host of a secret is no host");
  return url.origin;
}

/**
 * One spelling for each origin, so that the answer shows the form that addresses are compared with: `0x7f.1` is
 * 127.0.0.1.
 */
export function normaliseHosts(hosts: readonly string[]): string[] {
  const origins = hosts.map((host, index) => {
    const url = parseHost(host);
    if (!url) throw invalid(`hosts.${index}`, "Expected a host that exists, and a port up to 65535");
    return url.origin;
  });
  return [...new Set(origins)].map((origin) => origin.replace(/^https:\/\//, ""));
}

/** Whether a secret could be sent to a host to which it could not be sent before. */
export const addsHost = (before: readonly string[], after: readonly string[]): boolean =>
  after.some((host) => !before.includes(host));
