import { toPublicId } from "../../platform/ids.ts";
import type { SecretOwner } from "../secrets/find-secrets.ts";

/**
 * The agent that makes a call, and its organisation. Signed calls carry both, because any owner of an agent on this
 * installation can have Perch call an address: a receiver that trusts one organisation must be able to distinguish it
 * from the others.
 */
export const agentHeaders = ({ organisationId, agentId }: SecretOwner): Readonly<Record<string, string>> => ({
  "perch-organisation": toPublicId("organisation", organisationId),
  ...(agentId !== null && { "perch-agent": toPublicId("agent", agentId) }),
});
