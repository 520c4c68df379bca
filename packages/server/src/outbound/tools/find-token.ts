import type { ToolConnection, UserConnection } from "@perch/contract";
import { OutsideError } from "../outbound-errors.ts";
import type { SecretOwner } from "../secrets/find-secrets.ts";

/** Whose run calls: only this user's accounts may be used. */
export interface ToolUser extends SecretOwner {
  readonly userId: string | null;
}

/** What a call needs to know of a tool's `connection`. Journaled with the tool, once for each of a server. */
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

/** `again`: there was a consent, which counts no more. `moved`: there is one, for another address than the tool has now. */
export type NotConnectedWhy = "no user" | "not yet" | "again" | "moved";

const toldToModel: Readonly<Record<NotConnectedWhy, string>> = {
  "no user": "It is called with the account of the user, and nobody knows who the user of this conversation is.",
  "not yet":
    "The user has not connected their account with it yet. Tell the user that they have to connect it first, and then ask again.",
  again:
    "The user's account is not accepted any more. Tell the user that they have to connect it again, and then ask again.",
  moved:
    "Its address has changed since the user connected their account. Tell the user that they have to connect it again, and then ask again.",
};

const howTo: Readonly<Record<NotConnectedWhy, string>> = {
  "no user": "Name the user in `context.user_id` of the invoke.",
  "not yet": "`POST /v1/agents/{agent_id}/connections` gives a link with which the user connects it.",
  again: "`POST /v1/agents/{agent_id}/connections` gives a link with which the user connects it again.",
  moved: "`POST /v1/agents/{agent_id}/connections` gives a link with which the user connects it again.",
};

const whyWords: Readonly<Record<NotConnectedWhy, string>> = {
  "no user": "the run has no `user_id`, and the tool is called with the account of the run's user",
  "not yet": "the run's user has not connected an account with it",
  again: "the account of the run's user must be connected again",
  moved: "its address has changed since the run's user connected an account, which must be connected again",
};

/** Nothing was called: only the user can help. Its message is for the run's log, and says how to get a link. */
export class NotConnectedError extends OutsideError {
  /** For the model: why, and what to tell the user. */
  readonly description: string;
  readonly content: string;

  /** `reason` is why a consent counts no more, as a sentence. */
  constructor(why: NotConnectedWhy, { tool, reason = "" }: { readonly tool: string; readonly reason?: string }) {
    const about = reason === "" ? "" : ` ${reason}`;
    super(`The tool ${tool} was not called: ${whyWords[why]}.${about} ${howTo[why]}`);
    this.description = toldToModel[why];
    this.content = `The tool ${tool} was not called. ${this.description}`;
  }
}
