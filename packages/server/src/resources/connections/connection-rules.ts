import type { ConnectionStatus } from "@perch/contract";
import type { OAuthTool } from "../../outbound/oauth/oauth-client.ts";
import type { Transitions } from "../transitions.ts";

/** The states of a connection. ARCHITECTURE.md shows the same table as a diagram. */
export const connectionTransitions = {
  create: { from: [null], to: "pending" },
  confirm: { from: ["pending", "needs_reauth"], to: "active" },
  refuse: { from: ["active"], to: "needs_reauth" },
  revoke: { from: ["pending", "active", "needs_reauth"], to: "revoked" },
  reopen: { from: ["revoked"], to: "pending" },
  delete: { from: ["pending", "active", "needs_reauth", "revoked"], to: null },
} as const satisfies Transitions<ConnectionStatus>;

/**
 * What the tokens of a tool may be sent to: the address of an MCP server, or the origin of an HTTP tool, whose path has the model's
 * arguments. A definition that leads elsewhere needs
 * another connection.
 */
export const tokenTarget = ({ type, url }: Pick<OAuthTool, "type" | "url">): string => {
  const { origin, href } = new URL(url);
  return type === "mcp" ? href : origin;
};
