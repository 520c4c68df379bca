import { toPublicId } from "../../platform/ids.ts";
import type { SecretOwner } from "../secrets/find-secrets.ts";

/**
 * Whose agent makes a call. Signed calls carry it, because anybody with an agent on this installation can have Perch call an
 * address: a receiver that trusts one organisation must be able to tell it from the others.
 */
export const agentHeaders = ({ organisationId, agentId }: SecretOwner): Readonly<Record<string, string>> => ({
  "perch-organisation": toPublicId("organisation", organisationId),
  ...(agentId !== null && { "perch-agent": toPublicId("agent", agentId) }),
});
