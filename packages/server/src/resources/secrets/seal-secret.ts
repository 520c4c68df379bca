import type { Sealer } from "../../platform/sealing.ts";

/** The owner of a sealed value. */
export interface SecretIdentity {
  readonly organisationId: string;
  readonly agentId: string | null;
  readonly name: string;
  readonly hosts: readonly string[];
  /** `required`, or null. */
  readonly approval: string | null;
}

/**
 * Includes the hosts and the approval, so that a writer of the table without the key cannot have a secret sent elsewhere
 * or without a person. Releases that do not know approvals cannot open a secret that needs one.
 */
const associatedDataFor = ({ organisationId, agentId, name, hosts, approval }: SecretIdentity): string =>
  JSON.stringify([organisationId, agentId, name, hosts.toSorted(), ...(approval === null ? [] : [approval])]);

export const sealSecretValue = (sealer: Sealer, value: string, identity: SecretIdentity): Buffer =>
  sealer.seal(value, associatedDataFor(identity));

export const openSecretValue = (sealer: Sealer, sealed: Buffer, identity: SecretIdentity): string =>
  sealer.open(sealed, associatedDataFor(identity));
