import type { AccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { vi } from "vitest";
import { depsOf } from "../../src/compose/core.ts";
import type { Database } from "../../src/db/database.ts";
import type { OAuthClient } from "../../src/outbound/oauth/oauth-client.ts";
import { type FindToken, type FindTokenOptions, usedConnection } from "../../src/outbound/tools/find-token.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { createFindToken } from "../../src/resources/connections/find-connection-token.ts";
import { createRefreshGrant } from "../../src/resources/connections/refresh-grant.ts";
import { accountTool, connectAccount } from "./connected-accounts.ts";
import { ok } from "./contract-client.ts";
import type { ApiNode, Perch } from "./harness.ts";
import { readConnection } from "./stored-connections.ts";

type Refresh = OAuthClient["refresh"];

/** A worker's finder, on the pool of this node, and the events that it dispatched. */
export function createWorker(
  { server: { core } }: ApiNode,
  wrap = (refresh: Refresh): Refresh => refresh,
  now = core.nowMs,
) {
  const dispatchDeliveries = vi.fn();
  const oauth = { ...core.outbound.oauth, refresh: wrap(core.outbound.oauth.refresh) };
  const find = createFindToken({
    ...depsOf(core),
    refreshGrant: createRefreshGrant({ ...depsOf(core), oauth, now, dispatchDeliveries }),
    findAgentToken: () => Promise.reject(new Error("no tool has the agent's account")),
  });
  return { find, dispatchDeliveries };
}

export const withDatabase = (node: ApiNode, changed: Partial<Database>): ApiNode => ({
  ...node,
  server: { ...node.server, core: { ...node.server.core, db: { ...node.server.core.db, ...changed } } },
});

/** A user with an account whose access token has expired, or expires in so many seconds. */
export async function createConnectedUser(perch: Perch, provider: AccountProvider, expiresInSeconds = -60) {
  const organisation = await perch.createOrganisation();
  const { id } = ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data;
  const tool = accountTool("https://tools.example/book", provider);
  const connection = await connectAccount(perch, organisation, { userId: "ada", tool, expiresInSeconds });
  const user = {
    organisationId: parsePublicId("organisation", organisation.id) ?? "",
    agentId: parsePublicId("agent", id) ?? "",
    userId: "ada",
  };
  const used = { ...tool, connection: usedConnection(tool.connection as never) };
  const find = (worker: { readonly find: FindToken }, options: Partial<FindTokenOptions> = {}) =>
    worker.find(user, used, { signal: AbortSignal.timeout(40_000), ...options });
  const read = () => readConnection(perch, organisation, connection);
  const refreshes = provider.countTokenRequests("refresh_token");
  const countRefreshes = () => provider.countTokenRequests("refresh_token") - refreshes;
  return { organisation, agentId: id, connection, find, read, countRefreshes };
}
