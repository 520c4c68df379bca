import type { Agent, UserConnection } from "@perch/contract";
import type { OAuthTool } from "../../outbound/oauth/oauth-client.ts";
import { invalid } from "../../platform/api-error.ts";

/** A tool that is called with the account of the run's own user. */
export interface UserTool extends OAuthTool {
  readonly connection: UserConnection;
}

type Tool = Agent["tools"][number];

/** Undefined for a tool that is not called with accounts of users. */
export const toUserTool = (tool: Tool): UserTool | undefined => {
  if (tool.type === "ask_person" || tool.connection?.account !== "user") return undefined;
  const { type, name, url, connection } = tool;
  return { type, name, url, connection };
};

const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(", ");

/**
 * The tool with this name, if users can connect an account with it. `where` describes the owner of the tools in words.
 */
export function chooseUserTool(tools: readonly Tool[], name: string, where: string): UserTool {
  const named = tools.find((tool) => tool.name === name);
  const found = named && toUserTool(named);
  if (found) return found;
  const others = tools.filter((tool) => toUserTool(tool) !== undefined).map((tool) => tool.name);
  const advice =
    others.length > 0
      ? `Tools that users can connect: ${quoted(others)}`
      : 'Give a tool of type mcp or http a `connection` with `"account": "user"`, and deploy the agent if it is deployed';
  const [first = "", ...rest] = where;
  const problem = named
    ? `The tool ${JSON.stringify(name)} has no connection with account "user" in ${where}`
    : `${first.toUpperCase()}${rest.join("")} has no tool ${JSON.stringify(name)}`;
  throw invalid("tool", `${problem}. ${advice}`);
}

/** Must equal one of the definition's `return_urls`. The first, if none was asked for. */
export function chooseReturnUrl({ name, connection }: UserTool, given: string | undefined): string {
  const { return_urls } = connection;
  const [first = ""] = return_urls;
  if (given === undefined) return first;
  if (return_urls.includes(given)) return given;
  throw invalid(
    "return_url",
    `Must equal one of the \`return_urls\` of the tool ${JSON.stringify(name)}: ${return_urls.join(", ")}`,
  );
}

/** The registered address with these parameters after its own. */
export function addToReturnUrl(returnUrl: string, parameters: Readonly<Record<string, string>>): string {
  const { href } = new URL(returnUrl);
  const separator = href.includes("?") ? (/[?&]$/.test(href) ? "" : "&") : "?";
  return `${href}${separator}${new URLSearchParams(parameters)}`;
}
