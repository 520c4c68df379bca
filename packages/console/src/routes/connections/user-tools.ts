import type { Agent } from "@perch/sdk";

export interface UserTool {
  readonly name: string;
  readonly returnUrls: readonly string[];
}

/** The tools of a definition that are called with an account of the run's user. */
export const userTools = (tools: Agent["tools"]): readonly UserTool[] =>
  tools.flatMap((tool) =>
    "connection" in tool && tool.connection?.account === "user"
      ? [{ name: tool.name, returnUrls: tool.connection.return_urls }]
      : [],
  );
