import { z } from "zod";
import { single, Timestamp, uncountedList, uncountedQuery } from "./envelopes.ts";
import { AgentId, AgentRef, ConnectionId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const connectionStatuses = ["pending", "active", "needs_reauth", "revoked"] as const;
export const ConnectionStatus = z
  .enum(connectionStatuses)
  .describe(
    "`pending`: no consent has been confirmed yet. `active`: runs of the user use the account. `needs_reauth`: the provider no longer accepts the consent, so the user needs a new link. `revoked`: no run uses it any more.",
  )
  .meta({ id: "ConnectionStatus" });
export type ConnectionStatus = z.infer<typeof ConnectionStatus>;

export const revocationResults = ["pending", "done", "not_offered", "failed"] as const;
export const RevocationResult = z
  .enum(revocationResults)
  .describe(
    "`done`: the provider has revoked the tokens. `pending`: it did not answer within three seconds, and is asked again for a day. `not_offered`: it has no way to revoke tokens. `failed`: it did not answer for a day, so the tokens are valid there until they expire.",
  )
  .meta({ id: "RevocationResult" });
export type RevocationResult = z.infer<typeof RevocationResult>;

export const Connection = z
  .object({
    id: ConnectionId,
    agent_id: AgentId,
    user_id: z.string(),
    tool: z.string().describe("Name of the tool in the agent's definition."),
    sent_to: z
      .string()
      .describe("The only address that the tokens are sent to: the URL of an MCP server, the origin of an HTTP tool."),
    status: ConnectionStatus,
    reason: z.string().nullable().describe("Why the user must consent again. null unless `needs_reauth`."),
    issuer: z.string().nullable().describe("The authorization server. null before the first consent."),
    scopes: z.array(z.string()).describe("What the user has consented to, as the authorization server says."),
    created_at: Timestamp,
    connected_at: Timestamp.nullable().describe("When a consent was confirmed last."),
    last_used_at: Timestamp.nullable().describe("When a run last used it. May be a minute out of date."),
    last_refreshed_at: Timestamp.nullable(),
    revoked_at: Timestamp.nullable(),
    provider_revocation: RevocationResult.nullable().describe(
      "Whether the provider has revoked the tokens. null unless `revoked`, and if the user had not consented.",
    ),
  })
  .meta({ id: "Connection" });
export type Connection = z.infer<typeof Connection>;

const UserId = z.string().min(1).max(256);
const Tool = z.string().min(1).max(64);
const Environment = z.string().min(1).max(63);

const CreateConnection = z
  .strictObject({
    user_id: UserId.describe("Your id for the user, as in `context.user_id` of an invoke."),
    tool: Tool.describe("Name of a tool of the agent that has a `connection` for users."),
    return_url: z.string().max(2048).optional().describe("One of the tool's `return_urls`. The default is the first."),
    environment: Environment.optional().describe(
      "Where the tool's definition is taken from, as for an invoke: its live version, or the draft where nothing is deployed. The default is `production`.",
    ),
  })
  .meta({ id: "CreateConnection" });

const ConnectionWithLink = Connection.extend({
  link: z
    .string()
    .describe("Send the user's browser here. It works once, within ten minutes. Earlier links no longer work."),
  link_expires_at: Timestamp,
}).meta({ id: "ConnectionWithLink" });

const ConfirmConnection = z
  .strictObject({
    user_id: UserId.describe(
      "The user who is signed in to your application in the browser that returned. Never take it from the address.",
    ),
    code: z.string().min(1).max(256).describe("`code` in the address that the browser returned to."),
  })
  .meta({ id: "ConfirmConnection" });

const ConnectionQuery = z.strictObject({
  ...uncountedQuery,
  user_id: UserId.optional(),
  tool: Tool.optional(),
  status: ConnectionStatus.optional(),
  environment: Environment.optional().describe(
    "Only those that runs in this environment use, or would after a consent: for the tools, addresses and authorization servers of the live version, or of the draft where nothing is deployed, as for an invoke.",
  ),
});
export type ConnectionQuery = z.output<typeof ConnectionQuery>;

const ofAgent = z.strictObject({ agent_id: AgentRef });
const params = z.strictObject({ agent_id: AgentRef, connection_id: z.string() });
const tag = "Connections";

export const connectionOperations = {
  "POST /v1/agents/{agent_id}/connections": {
    id: "createConnection",
    tag,
    summary: "Create connection",
    description:
      "Gives a link with which one user consents that the agent uses an account of theirs with one tool. There is one connection for each user, tool and address that the tool leads to: if it exists, this gives a new link for it, and it works as before until the new consent is confirmed. The provider sends the browser back to Perch, and Perch sends it to `return_url` with `connection_id` and `code`, or with `error`. Runs use the account only after `POST …/confirm`.",
    permission: "write",
    params: ofAgent,
    body: CreateConnection,
    status: 201,
    response: single(ConnectionWithLink),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/connections": {
    id: "listConnections",
    tag,
    summary: "List connections",
    description:
      "Newest first. A request reads a bounded number of rows: where a filter matches few, a page can be short or empty, and `next_cursor` continues.",
    permission: "read",
    params: ofAgent,
    query: ConnectionQuery,
    status: 200,
    response: uncountedList(Connection),
    errors: ["not_found"],
  },
  "GET /v1/agents/{agent_id}/connections/{connection_id}": {
    id: "getConnection",
    tag,
    summary: "Get connection",
    permission: "read",
    params,
    status: 200,
    response: single(Connection),
    errors: ["not_found"],
  },
  "POST /v1/agents/{agent_id}/connections/{connection_id}/confirm": {
    id: "confirmConnection",
    tag,
    summary: "Confirm connection",
    description:
      "Says that the user who returned is the user the link was created for: runs of that user use the account from now on. With another `user_id` it is refused, and the code is no longer valid. A code works once, within two minutes. While the provider does not answer, this is refused with 503, and the same code can be sent again.",
    permission: "write",
    params,
    body: ConfirmConnection,
    status: 200,
    response: single(Connection),
    errors: ["not_found", "conflict"],
  },
  "POST /v1/agents/{agent_id}/connections/{connection_id}/revoke": {
    id: "revokeConnection",
    tag,
    summary: "Revoke connection",
    description:
      "No run uses the account any more. The provider is asked to revoke the tokens, where it offers that, for three seconds at most; if it does not answer, it is asked again for a day. Revoking a revoked connection changes nothing. Kept for 30 days.",
    permission: "write",
    params,
    status: 200,
    response: single(Connection),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type ConnectionOperationKey = keyof typeof connectionOperations;
