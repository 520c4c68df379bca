import type { AgentProblem, ApprovalPolicy, McpApprovalPolicy } from "@perch/contract";
import type { RunTool } from "../../outbound/tools/tool.ts";
import type { Definition } from "../deployments/version-rules.ts";

type Tool = Definition["tools"][number];

const comparedBy = (policy: ApprovalPolicy | McpApprovalPolicy | undefined): string[] =>
  typeof policy === "object" && Array.isArray(policy.when) ? policy.when.map(({ argument }) => argument) : [];

/** Only a schema that lists its properties proves that there is none of this name. */
function hasNo({ properties }: { readonly properties?: unknown }, argument: string): boolean {
  const [name = ""] = argument.split(".");
  return typeof properties === "object" && properties !== null && !Object.hasOwn(properties, name);
}

const unknownArguments = (
  field: string,
  tool: string,
  policy: ApprovalPolicy | McpApprovalPolicy | undefined,
  parameters: object,
): AgentProblem[] =>
  comparedBy(policy)
    .filter((argument) => hasNo(parameters, argument))
    .map((argument) => ({
      kind: "tool",
      field,
      message: `The approval of ${tool} compares \`${argument}\`, which is none of the tool's arguments, so every call would need a person. Correct \`argument\`, or use \`always\`.`,
    }));

/** Policies of HTTP tools that compare arguments which their calls never have. */
export const checkApprovals = ({ tools }: Definition): AgentProblem[] =>
  tools.flatMap((tool, index) =>
    tool.type === "http" ? unknownArguments(`tools.${index}.approval`, tool.name, tool.approval, tool.parameters) : [],
  );

/** Policies of an MCP server that speak of tools, or of arguments, that it does not have. */
export function checkApprovalsOfServer(tool: Tool, field: string, listed: readonly RunTool[]): AgentProblem[] {
  if (tool.type !== "mcp" || !tool.tool_approvals) return [];
  return Object.entries(tool.tool_approvals).flatMap(([name, policy]) => {
    const at = `${field}.tool_approvals.${name}`;
    const found = listed.find(({ target }) => target.kind === "mcp" && target.url === tool.url && target.tool === name);
    if (found) return unknownArguments(at, name, policy, found.definition.parameters);
    const effect =
      policy === "never"
        ? ""
        : " As long as `tool_approvals` names it, all tools of the server that are not named there need approval, because one of them may be the same under another name.";
    const message = `The MCP server ${tool.name} has no tool ${name}.${effect} Correct the name, or leave it out.`;
    return [{ kind: "tool" as const, field: at, message }];
  });
}
