import type { AgentDefinition, HttpTool } from "@perch/contract";
import type { z } from "zod";
import { callHttpTool } from "./http-tool.ts";
import { callMcpTool, listMcpTools } from "./mcp-tool.ts";
import {
  echoTool,
  type RunTool,
  type ToolArguments,
  type ToolCallContext,
  type ToolDeps,
  type ToolResult,
} from "./tool.ts";
import { assertWithinLimits, nameTools } from "./tool-set.ts";
import { truncateResult } from "./truncate-text.ts";

/** Throws a `PermanentToolError` when retrying would not help, a `TransientToolError` when it may. */
export type ListTools = (tools: AgentDefinition["tools"], signal: AbortSignal) => Promise<readonly RunTool[]>;

/**
 * Throws a `TransientToolError` when the call may be retried, or the signal's reason when the caller cancelled.
 *
 * Arguments are not validated against the tool's JSON Schema: a `pattern` written by a tenant could block our event
 * loop. The tool's own 4xx is returned to the model instead.
 */
export type CallTool = (tool: RunTool, args: unknown, call: ToolCallContext) => Promise<ToolResult>;

export interface Tools {
  readonly list: ListTools;
  readonly call: CallTool;
}

export const createTools = (deps: ToolDeps): Tools => ({ list: createListTools(deps), call: createCallTool(deps) });

const toHttpRunTool = ({ name, description, parameters, method, url }: z.infer<typeof HttpTool>): RunTool => ({
  definition: { name, description, parameters },
  target: { kind: "http", method, url },
});

function createListTools(deps: ToolDeps): ListTools {
  return async (tools, signal) => {
    const http = tools.filter((tool) => tool.type === "http").map(toHttpRunTool);
    const servers = tools.filter((tool) => tool.type === "mcp");
    // When one server fails, the requests to the others are aborted.
    const controller = new AbortController();
    const combinedSignal = AbortSignal.any([signal, controller.signal]);
    try {
      const listed = await Promise.all(servers.map((server) => listMcpTools(deps, server, combinedSignal)));
      servers.forEach(({ name }, index) => void assertWithinLimits(listed.slice(0, index + 1).flat(), name));
      const taken = [echoTool, ...http].map(({ definition }) => definition.name);
      return [...http, ...nameTools(listed.flat(), taken)];
    } finally {
      controller.abort();
    }
  };
}

const isObject = (value: unknown): value is ToolArguments =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function createCallTool(deps: ToolDeps): CallTool {
  return async ({ definition, target }, args, context) => {
    const { name } = definition;
    if (target.kind === "echo") return { content: truncateResult(JSON.stringify(args) ?? "null"), failed: false };
    if (!isObject(args)) {
      // Returned to the model, which can correct its next call.
      const content = `The arguments of ${name} must be a JSON object, for example {"name": "value"}. Nothing was called.`;
      return { content, failed: true };
    }
    return target.kind === "http"
      ? callHttpTool(deps, { name, target }, args, context)
      : callMcpTool(deps, { definition, target }, args, context);
  };
}
