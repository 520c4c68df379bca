import type { ModelReply, ToolCall } from "../../outbound/models/model.ts";
import type { RunTool } from "../../outbound/tools/tool.ts";
import { type ToolApproval, whyApprovalNeeded } from "../../outbound/tools/tool-approval.ts";

/** A call that a person decides on, or a question that a person answers. */
export interface CallToDecide {
  readonly call: ToolCall;
  /** Which of the reply's calls it is, from 1. */
  readonly callNumber: number;
  readonly tool: RunTool & { readonly approval: ToolApproval };
  readonly why: string;
}

/** The calls of a reply that need a person, by the definition only, so that a replay finds the same. */
export const callsToDecide = (
  { toolCalls }: Pick<ModelReply, "toolCalls">,
  tools: readonly RunTool[],
): readonly CallToDecide[] =>
  toolCalls.flatMap((call, index) => {
    const tool = tools.find(({ definition }) => definition.name === call.name);
    const why = whyApprovalNeeded(tool?.approval, call.arguments);
    if (!tool?.approval || why === undefined) return [];
    return { call, callNumber: index + 1, tool: { ...tool, approval: tool.approval }, why };
  });
