import type { ConnectionOperationKey } from "@perch/contract";
import type { Caller } from "../../auth/caller.ts";
import { tokenHeader } from "../../auth/token-user.ts";
import type { Database } from "../../db/database.ts";
import type { OAuthClient } from "../../outbound/oauth/oauth-client.ts";
import { forbidden, invalid, notFound } from "../../platform/api-error.ts";
import { parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import type { AgentRow } from "../agents/agent-queries.ts";
import { single, uncountedPage } from "../envelopes.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import { toUserTool } from "./choose-tool.ts";
import { type ConfirmDeps, createConfirmation } from "./confirm-connection.ts";
import { findConnection, listConnections } from "./connection-queries.ts";
import { tokenTarget } from "./connection-rules.ts";
import { type CreateDeps, createConnectionCreation } from "./create-connection.ts";
import { findServedTools } from "./find-served-tools.ts";
import { createRevocation, type RevokeDeps } from "./revoke-connection.ts";
import { toConnection } from "./to-connection.ts";

interface ConnectionDeps extends CreateDeps, ConfirmDeps, RevokeDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly oauth: Pick<OAuthClient, "discoverConfiguration" | "exchangeCode" | "revoke">;
}

const toAgentKey = ({ organisation_id, id }: AgentRow) => ({ organisationId: organisation_id, agentId: id });

/** If the agent requires users' tokens, each user may reach only their own connections. */
function requireOwnUser({ user }: Caller, given: string): void {
  if (user && given !== user.id)
    throw forbidden(
      `\`user_id\` is not the user of the token in \`${tokenHeader}\`, and users manage their own alone.`,
    );
}

const beforeOf = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const id = parsePublicId("connection", cursor);
  if (!id) throw invalid("cursor", "Expected `pagination.next_cursor` of another page");
  return id;
};

export const connectionHandlers = (deps: ConnectionDeps) => {
  const { db, agents } = deps;
  const create = createConnectionCreation(deps);
  const confirm = createConfirmation(deps);
  const revoke = createRevocation(deps);
  const findRef = async (
    context: RequestContext,
    params: { readonly agent_id: string; readonly connection_id: string },
  ) => {
    const agent = toAgentKey(await agents.get(context, params.agent_id));
    const id = parsePublicId("connection", params.connection_id);
    // Foreign, unknown and malformed ids are refused alike.
    if (!id) throw notFound("connection", params.connection_id);
    return { ...agent, id, onlyUserId: context.caller.user?.id };
  };

  /** The connections that runs of this environment would use now. */
  const findWanted = async (agent: AgentRow, context: RequestContext, environment: string) => {
    const { tools } = await findServedTools(deps.serving, agent, context, environment);
    return tools.flatMap((tool) => {
      const found = toUserTool(tool);
      return found ? [{ tool: found.name, sentTo: tokenTarget(found), issuer: found.connection.issuer }] : [];
    });
  };

  return {
    "POST /v1/agents/{agent_id}/connections": async ({ params, body }, context) => {
      requireOwnUser(context.caller, body.user_id);
      return create(context, await agents.get(context, params.agent_id), body);
    },

    "GET /v1/agents/{agent_id}/connections": async ({ params, query }, context) => {
      const row = await agents.get(context, params.agent_id);
      const agent = toAgentKey(row);
      const { cursor, limit, environment, ...filter } = query;
      const { user } = context.caller;
      if (filter.user_id !== undefined) requireOwnUser(context.caller, filter.user_id);
      const user_id = user?.id ?? filter.user_id;
      const wanted = environment === undefined ? undefined : await findWanted(row, context, environment);
      const page = { limit, before: beforeOf(cursor) };
      const { rows, end } = await db.inOrganisation(agent.organisationId, (trx) =>
        listConnections(trx, { ...filter, user_id, agent, wanted }, page),
      );
      return uncountedPage(rows.map(toConnection), query, end === undefined ? null : toPublicId("connection", end));
    },

    "GET /v1/agents/{agent_id}/connections/{connection_id}": async ({ params }, context) => {
      const ref = await findRef(context, params);
      const row = await db.inOrganisation(ref.organisationId, (trx) => findConnection(trx, ref));
      if (!row) throw notFound("connection", params.connection_id);
      return single(toConnection(row));
    },

    "POST /v1/agents/{agent_id}/connections/{connection_id}/confirm": async ({ params, body }, context) => {
      requireOwnUser(context.caller, body.user_id);
      return confirm(context, await findRef(context, params), body);
    },

    "POST /v1/agents/{agent_id}/connections/{connection_id}/revoke": async ({ params }, context) =>
      revoke(context, await findRef(context, params)),
  } satisfies Handlers<ConnectionOperationKey>;
};
