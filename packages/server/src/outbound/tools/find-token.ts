import type { OAuthTool } from "../oauth/oauth-client.ts";
import type { SecretOwner } from "../secrets/find-secrets.ts";

/** Whose run calls: only this user's accounts may be used. */
export interface ToolUser extends SecretOwner {
  readonly userId: string | null;
}

export interface ToolToken {
  readonly value: string;
  /** Tells a token from the one that replaced it. */
  readonly generation: number;
}

export interface FindTokenOptions {
  /** A token that the tool refused: it gets another one, or an error. */
  readonly rejected?: ToolToken;
  readonly signal: AbortSignal;
}

/**
 * The access token for a call of this tool, as it is now and never from a cache of users' tokens. Refreshes it if it ends soon. Throws a
 * `NotConnectedError` if the user must connect the account first, or again, and a `TransientToolError` if a retry may help.
 */
export type FindToken = (user: ToolUser, tool: OAuthTool, options: FindTokenOptions) => Promise<ToolToken>;
