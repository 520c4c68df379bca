import type { HttpTool } from "@perch/contract";
import type { z } from "zod";
import type { ApprovalFloor } from "../../platform/approval-floor.ts";
import type { TraceParent } from "../../platform/trace-parent.ts";
import type { ToolDefinition } from "../models/model.ts";
import type { CreateRedactor } from "../secrets/redactor.ts";
import type { ResolveCall } from "../secrets/resolve-call.ts";
import type { FindToken, ToolUser, UsedConnection } from "./find-token.ts";
import type { ToolApproval } from "./tool-approval.ts";

/** Names and values of headers or query parameters. Values may refer to secrets. */
type Templates = Readonly<Record<string, string>>;

export interface HttpTarget {
  readonly kind: "http";
  readonly method: z.infer<typeof HttpTool>["method"];
  readonly url: string;
  readonly headers?: Templates;
  readonly query?: Templates;
  /** The owner of the account that it is called with. Never a token: each call finds its own. */
  readonly connection?: UsedConnection;
}

export interface McpTarget {
  readonly kind: "mcp";
  readonly url: string;
  readonly headers?: Templates;
  /** The server's own name for it; the model knows it by another. */
  readonly tool: string;
  /** The server speaks MCP without sessions (2026-07-28). Stored at listing, so that calls need not discover it again. */
  readonly stateless?: boolean;
  readonly connection?: UsedConnection;
  /** The definition's name of the server, which the account belongs to. Present if there is a `connection`. */
  readonly server?: string;
}

/** Stands for an MCP server whose tools cannot be listed, because the run's user has not connected an account. */
export interface UnconnectedTarget {
  readonly kind: "unconnected";
  /** The result of each call, for the model and for the run's log. */
  readonly content: string;
  readonly reason: string;
}

/** A person answers: the run waits, and nothing is called. */
export interface PersonTarget {
  readonly kind: "person";
  /** JSON Schema of the answer. */
  readonly answer: Readonly<Record<string, unknown>>;
}

/** A tool as a run knows it: its definition for the model, and the target of its calls. Journaled, so plain JSON. */
export interface RunTool {
  readonly definition: ToolDefinition;
  readonly target: HttpTarget | McpTarget | PersonTarget | UnconnectedTarget | { readonly kind: "echo" };
  /** Absent if its calls need no approval. */
  readonly approval?: ToolApproval;
}

/** Built in: returns its arguments. Not part of any listing. */
export const echoTool: RunTool = {
  definition: {
    name: "perch_echo",
    description: "Gives back the arguments it is called with, as JSON.",
    parameters: { type: "object" },
  },
  target: { kind: "echo" },
};

export interface ToolDeps {
  /** Refuses private addresses and follows no redirect: tools' addresses are written by tenants. */
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
  readonly resolveCall: ResolveCall;
  readonly findToken: FindToken;
  readonly createRedactor: CreateRedactor;
}

export type ToolArguments = Readonly<Record<string, unknown>>;

export interface ToolCallContext {
  /** The agent that calls and the user it calls for, whose secrets and account the call may carry. */
  readonly owner: ToolUser;
  /** The same for every attempt at this call, so that a tool can recognise a retry. */
  readonly idempotencyKey: string;
  /** The run's public id. */
  readonly requestId: string;
  /** Undefined if the run is not traced. */
  readonly trace?: TraceParent | undefined;
  readonly signal: AbortSignal;
}

/** The run in which servers are asked for their tools. A preflight is in none. */
export interface ListingRun extends Pick<ToolCallContext, "requestId" | "trace"> {
  readonly floor?: ApprovalFloor | undefined;
}

/** The result that the model gets. A failed result goes to the model too, which may correct itself. */
export interface ToolResult {
  readonly content: string;
  readonly failed: boolean;
  /** Why it failed, for the run's log: never the tool's own text. */
  readonly reason?: string;
}

export const failedResult = (content: string, reason: string = content): ToolResult => ({
  content,
  failed: true,
  reason,
});
