import { createResolveCall } from "../../src/outbound/secrets/resolve-call.ts";

/** For calls that refer to no secret. */
export const noSecrets = {
  owner: { organisationId: "organisation", agentId: "agent" },
  resolveCall: createResolveCall({ findSecrets: async () => new Map(), onRefused: () => undefined }),
};
