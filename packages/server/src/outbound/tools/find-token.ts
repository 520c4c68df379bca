import type { ToolConnection, UserConnection } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import { OutsideError } from "../outbound-errors.ts";
import type { SecretOwner } from "../secrets/find-secrets.ts";

/** The user of the run that calls: only this user's accounts may be used. */
export interface ToolUser extends SecretOwner {
  readonly userId: string | null;
}

/** The facts that a call needs about a tool's `connection`. Journaled with the tool, once for each of a server. */
export type UsedConnection =
  | Omit<UserConnection, "return_urls" | "client_id" | "client_secret" | "scopes" | "resource">
  | Extract<ToolConnection, { account: "agent" }>;

export interface ConnectedTool {
  readonly type: "mcp" | "http";
  /** In the definition: of an MCP server, whose tools share the account. */
  readonly name: string;
  readonly url: string;
  readonly connection: UsedConnection;
}

/** The rest matters only to a consent. */
export const usedConnection = (connection: ToolConnection): UsedConnection =>
  connection.account === "agent"
    ? connection
    : { account: "user", ...(connection.issuer !== undefined && { issuer: connection.issuer }) };

export interface ToolToken {
  readonly value: string;
  /** Tells a token from the one that replaced it. */
  readonly generation: number;
}

export interface FindTokenOptions {
  /** A token that the tool refused. The answer is another one, or the same if none can be had now, or an error. */
  readonly rejected?: ToolToken;
  readonly signal: AbortSignal;
}

/**
 * The access token for a call of this tool, as it is now and never from a cache of users' tokens. Refreshes it if it ends soon. Throws a
 * `NotConnectedError` if the user must connect the account first, or again, a `PermanentToolError` if something else must be changed,
 * and a `TransientToolError` if a retry may help.
 */
export type FindToken = (user: ToolUser, tool: ConnectedTool, options: FindTokenOptions) => Promise<ToolToken>;

/** `again`: there was a consent, which is no longer valid. `moved`: there is one, for another address than the tool has now. */
export type NotConnectedWhy = "no user" | "not yet" | "again" | "moved";

const messagesForModel: Readonly<Record<NotConnectedWhy, string>> = {
  "no user": "It is called with the account of the user, and the user of this conversation is not known.",
  "not yet":
    "The user has not connected their account with it yet. Tell the user that they have to connect it first, and then ask again.",
  again:
    "The user's account is not accepted any more. Tell the user that they have to connect it again, and then ask again.",
  moved:
    "Its address has changed since the user connected their account. Tell the user that they have to connect it again, and then ask again.",
};

/** How to get a link for it, for readers of a run's log. */
export function linkCommand(tool: string, agentId: string | null): string {
  const agent = agentId === null ? "{agent_id}" : toPublicId("agent", agentId);
  return `\`POST /v1/agents/${agent}/connections\` with \`"tool": "${tool}"\``;
}

interface Unconnected {
  readonly tool: string;
  readonly agentId: string | null;
  /** Why a consent is no longer valid, as a sentence. */
  readonly reason?: string;
}

function describe(
  why: NotConnectedWhy,
  { tool, agentId, reason = "Its connection is not valid." }: Unconnected,
): string {
  const link = linkCommand(tool, agentId);
  if (why === "no user")
    return `The tool ${tool} was not called: the run has no \`user_id\`, and the tool is called with the account of the run's user. Name the user in \`context.user_id\` of the invoke.`;
  if (why === "not yet")
    return `The tool ${tool} was not called: the run's user has not connected an account with it. ${link} gives a link with which the user connects it.`;
  if (why === "moved")
    return `The tool ${tool} was not called: its address has changed since the run's user connected an account. ${link} gives a new link.`;
  // A call may have been refused before: that nothing was called would not be true.
  return `The tool ${tool} could not use the user's account. ${reason} ${link} gives a new link.`;
}

/** Only the user can help. Its message is for the run's log, and explains how to get a link. */
export class NotConnectedError extends OutsideError {
  /** For the model: the reason, and the advice for the user. */
  readonly description: string;
  readonly content: string;

  constructor(why: NotConnectedWhy, unconnected: Unconnected) {
    super(describe(why, unconnected));
    this.description = messagesForModel[why];
    this.content = `The tool ${unconnected.tool} ${why === "again" ? "could not be used" : "was not called"}. ${this.description}`;
  }
}
