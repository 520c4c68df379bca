import type { AgentDefinition, AskPersonTool, HttpTool, McpTool } from "@perch/contract";
import type { z } from "zod";
import type { ApprovalFloor } from "../../platform/approval-floor.ts";
import { isRefusedCall } from "../secrets/resolve-call.ts";
import { NotConnectedError, type ToolUser, usedConnection } from "./find-token.ts";
import { whyUnderFloor } from "./floor-rules.ts";
import { callHttpTool } from "./http-tool.ts";
import { callMcpTool, listMcpTools } from "./mcp-tool.ts";
import {
  echoTool,
  failedResult,
  type ListingRun,
  type RunTool,
  type ToolArguments,
  type ToolCallContext,
  type ToolDeps,
  type ToolResult,
} from "./tool.ts";
import { approvalOfQuestion, isAlwaysApproved, resolveApproval } from "./tool-approval.ts";
import { PermanentToolError } from "./tool-errors.ts";
import { assertWithinLimits, type ListedTool, nameTools } from "./tool-set.ts";
import { truncateResult } from "./truncate-text.ts";

/** Throws a `PermanentToolError` when retrying would not help, a `TransientToolError` when it may. */
export type ListTools = (
  tools: AgentDefinition["tools"],
  owner: ToolUser,
  signal: AbortSignal,
  run?: ListingRun,
) => Promise<readonly RunTool[]>;

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

const toHttpRunTool = (tool: z.infer<typeof HttpTool>, floor: ApprovalFloor | undefined): RunTool => {
  const { name, description, parameters, method, url, headers, query } = tool;
  const approval = resolveApproval(tool.approval, {}, whyUnderFloor(floor, tool));
  const connection = tool.connection && usedConnection(tool.connection);
  const optional = { ...(headers && { headers }), ...(query && { query }), ...(connection && { connection }) };
  return {
    definition: { name, description, parameters },
    target: { kind: "http", method, url, ...optional },
    ...(approval && { approval }),
  };
};

const question = {
  question: { type: "string", description: "What you want to know, with all that is needed to answer." },
};

const toQuestionTool = (tool: z.infer<typeof AskPersonTool>): RunTool => ({
  definition: {
    name: tool.name,
    description: tool.description,
    parameters: { type: "object", properties: question, required: ["question"], additionalProperties: false },
  },
  target: { kind: "person", answer: tool.answer },
  approval: approvalOfQuestion(tool),
});

/**
 * A server that the run's user has not connected is shown as one tool that reports so. The run goes on, and can inform
 * its user.
 */
async function listOrPlaceholder(
  deps: ToolDeps,
  server: z.infer<typeof McpTool>,
  ...rest: [ToolUser, AbortSignal, ListingRun | undefined]
): Promise<{ readonly listed: readonly ListedTool[]; readonly placeholders: readonly RunTool[] }> {
  try {
    return { listed: await listMcpTools(deps, server, ...rest), placeholders: [] };
  } catch (error) {
    if (!(error instanceof NotConnectedError)) throw error;
    const { content, message: reason } = error;
    const description = `The tools of ${server.name} are not available. ${error.description}`;
    const definition = { name: server.name, description, parameters: { type: "object" } };
    return { listed: [], placeholders: [{ definition, target: { kind: "unconnected", content, reason } }] };
  }
}

function createListTools(deps: ToolDeps): ListTools {
  return async (tools, owner, signal, run) => {
    const named = tools.flatMap((tool) => {
      if (tool.type === "mcp") return [];
      return tool.type === "http" ? toHttpRunTool(tool, run?.floor) : toQuestionTool(tool);
    });
    const servers = tools.filter((tool) => tool.type === "mcp");
    // When one server fails, the requests to the others are aborted.
    const controller = new AbortController();
    const combinedSignal = AbortSignal.any([signal, controller.signal]);
    try {
      const answers = await Promise.all(
        servers.map((server) => listOrPlaceholder(deps, server, owner, combinedSignal, run)),
      );
      const listed = answers.map((answer) => answer.listed);
      servers.forEach(({ name }, index) => void assertWithinLimits(listed.slice(0, index + 1).flat(), name));
      const placeholders = answers.flatMap((answer) => answer.placeholders);
      const taken = [echoTool, ...named, ...placeholders].map(({ definition }) => definition.name);
      return [...named, ...placeholders, ...nameTools(listed.flat(), taken)];
    } catch (error) {
      throw isRefusedCall(error) ? new PermanentToolError(error.message) : error;
    } finally {
      controller.abort();
    }
  };
}

const isObject = (value: unknown): value is ToolArguments =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function createCallTool(deps: ToolDeps): CallTool {
  return async ({ definition, target, approval }, args, context) => {
    const { name } = definition;
    if (target.kind === "echo") return { content: truncateResult(JSON.stringify(args) ?? "null"), failed: false };
    if (target.kind === "unconnected") return failedResult(target.content, target.reason);
    if (target.kind === "person") return failedResult("Only a person answers this. Nothing was called.");
    if (!isObject(args)) {
      // Returned to the model, which can correct its next call.
      const content = `The arguments of ${name} must be a JSON object, for example {"name": "value"}. Nothing was called.`;
      return failedResult(content);
    }
    try {
      return target.kind === "http"
        ? await callHttpTool(deps, { name, target, isApproved: isAlwaysApproved(approval) }, args, context)
        : await callMcpTool(deps, { definition, target }, args, context);
    } catch (error) {
      if (isRefusedCall(error)) return failedResult(error.message);
      if (error instanceof NotConnectedError) return failedResult(error.content, error.message);
      if (error instanceof PermanentToolError) return failedResult(error.message, error.summary);
      throw error;
    }
  };
}
