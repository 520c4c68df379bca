import { createResolveCall } from "../../src/outbound/secrets/resolve-call.ts";
import { type FindToken, NotConnectedError } from "../../src/outbound/tools/find-token.ts";
import { newUuid } from "../../src/platform/ids.ts";
import { createRedactor } from "./create-redactor.ts";

/** There are no connected accounts. */
const noTokens: FindToken = async ({ userId, agentId }, { name: tool }) => {
  throw new NotConnectedError(userId === null ? "no user" : "not yet", { tool, agentId });
};

/** For calls that refer to no secret, and carry no token. */
export const noSecrets = {
  owner: { organisationId: newUuid(), agentId: newUuid(), userId: null },
  resolveCall: createResolveCall({ createRedactor, findSecrets: async () => new Map(), onRefused: () => undefined }),
  findToken: noTokens,
  createRedactor,
};
