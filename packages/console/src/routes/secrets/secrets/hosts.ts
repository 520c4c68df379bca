import type { UpdateSecret } from "@perch/sdk";

/** One host per line. */
export const hostsOf = (text: string): string[] =>
  text
    .split(/\s+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** A new host needs the value again, so that a stored secret cannot be redirected to another host. */
export const newHosts = (before: readonly string[], text: string): readonly string[] =>
  hostsOf(text).filter((host) => !before.includes(host));

/**
 * Only the changes since the form was opened: another user may have changed the hosts since. An empty value leaves the secret unchanged.
 */
export const toUpdate = (before: readonly string[], hosts: string, value: string): UpdateSecret => ({
  ...(hostsOf(hosts).join("\n") !== before.join("\n") && { hosts: hostsOf(hosts) }),
  ...(value !== "" && { value }),
});
