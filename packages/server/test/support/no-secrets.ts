import { createResolveCall } from "../../src/outbound/secrets/resolve-call.ts";
import { newUuid } from "../../src/platform/ids.ts";

/** For calls that refer to no secret. */
export const noSecrets = {
  owner: { organisationId: newUuid(), agentId: newUuid() },
  resolveCall: createResolveCall({ findSecrets: async () => new Map(), onRefused: () => undefined }),
};
