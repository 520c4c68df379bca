import type { UpdateSecret } from "@perch/sdk";

/** One host per line. */
export const hostsOf = (text: string): string[] =>
  text
    .split(/\s+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** A host that is new needs the value again: nobody may have a stored secret sent elsewhere. */
export const newHosts = (before: readonly string[], text: string): readonly string[] =>
  hostsOf(text).filter((host) => !before.includes(host));

/** Only what differs from the hosts that the form began with: somebody else may have changed them since. An empty value stays as it is. */
export const toUpdate = (before: readonly string[], hosts: string, value: string): UpdateSecret => ({
  ...(hostsOf(hosts).join("\n") !== before.join("\n") && { hosts: hostsOf(hosts) }),
  ...(value !== "" && { value }),
});
