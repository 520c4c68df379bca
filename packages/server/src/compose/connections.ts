import type { FindToken } from "../outbound/tools/find-token.ts";
import { createFindAgentToken } from "../resources/connections/agent-account-tokens.ts";
import { createFindToken } from "../resources/connections/find-connection-token.ts";
import { createRefreshGrant } from "../resources/connections/refresh-grant.ts";
import { type Core, depsOf } from "./core.ts";

/**
 * Finds the tokens of the accounts that tools are called with. A process has one, so that its runs share requests under
 * way.
 */
export const composeFindToken = (core: Core, dispatchDeliveries: () => void): FindToken =>
  createFindToken({
    ...depsOf(core),
    refreshGrant: createRefreshGrant({ ...depsOf(core), now: core.nowMs, dispatchDeliveries }),
    findAgentToken: createFindAgentToken({ oauth: core.outbound.oauth, now: core.nowMs }),
  });
