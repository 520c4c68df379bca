import type { Secret, UpdateSecret } from "@perch/sdk";

/** One host per line. */
export const hostsOf = (text: string): string[] =>
  text
    .split(/\s+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** A new host needs the value again, so that a stored secret cannot be redirected to another host. */
export const newHosts = (before: readonly string[], text: string): readonly string[] =>
  hostsOf(text).filter((host) => !before.includes(host));

interface ChangedSecret {
  readonly hosts: string;
  readonly value: string;
  readonly isApproved: boolean;
}

/**
 * Only the changes since the form was opened: another user may have changed the secret since. An empty value leaves it unchanged.
 */
export const toUpdate = (
  before: Pick<Secret, "hosts" | "approval">,
  { hosts, value, isApproved }: ChangedSecret,
): UpdateSecret => ({
  ...(hostsOf(hosts).join("\n") !== before.hosts.join("\n") && { hosts: hostsOf(hosts) }),
  ...(isApproved !== (before.approval === "required") && { approval: isApproved ? "required" : null }),
  ...(value !== "" && { value }),
});
