import type { AgentDefinition, HttpTool } from "@perch/contract";
import type { z } from "zod";
import type { ToolDefinition } from "../models/model.ts";

export interface HttpTarget {
  readonly kind: "http";
  readonly method: z.infer<typeof HttpTool>["method"];
  readonly url: string;
}

export interface McpTarget {
  readonly kind: "mcp";
  readonly url: string;
  /** The server's own name for it; the model knows it by another. */
  readonly tool: string;
  /** The server speaks MCP without sessions (2026-07-28). Stored at listing, so that calls need not discover it again. */
  readonly stateless?: boolean;
}

/** A tool as a run knows it: its definition for the model, and where its calls go. Journaled, so plain JSON. */
export interface RunTool {
  readonly definition: ToolDefinition;
  readonly target: HttpTarget | McpTarget | { readonly kind: "echo" };
}

/** Throws a `PermanentToolError` when retrying would not help, a `TransientToolError` when it may. */
export type ListTools = (tools: AgentDefinition["tools"], signal: AbortSignal) => Promise<readonly RunTool[]>;

/** Built in: returns what it is called with. Not part of any listing. */
export const echoTool: RunTool = {
  definition: {
    name: "perch_echo",
    description: "Gives back the arguments it is called with, as JSON.",
    parameters: { type: "object" },
  },
  target: { kind: "echo" },
};
